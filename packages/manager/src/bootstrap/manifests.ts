/** Objects that an installation creates in a cluster besides the programs themselves. */
import { service } from '@kruise/api/core/service';
import { kruiseDefinitions } from '@kruise/api/kruise/crds';
import { apiVersionOf } from '@kruise/schema/kind';
import { allFeatureGates, featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
import { webhookConfigurations, webhookServiceName } from '../webhooks/configurations.ts';
import { readEnvironment } from './environment.ts';
import { daemonRbac, managerRbac, type RbacObject } from './rbac.ts';

/** Returns all objects in the order in which they can be created: CRDs, RBAC of manager and daemon, webhooks. */
export function manifestsFor(namespace: string): readonly object[] {
  const serving = { namespace, name: webhookServiceName };
  const definitions = kruiseDefinitions({ service: { ...serving, path: '/convert', port: 443 } });
  // All webhooks are listed. A running manager removes the webhooks that its feature gates disable, and restores them
  // when the gates are enabled.
  const settings = managerSettings({ namespace, gates: featureGates(allFeatureGates) });
  const { mutating, validating } = webhookConfigurations(settings, ({ path }) => ({ service: { ...serving, path } }));
  const rbac = new Map([...managerRbac(namespace), ...daemonRbac(namespace)].map(asObject).map(keyed));
  return [...definitions, ...rbac.values(), asObject(webhookService(namespace)), mutating, validating];
}

/** The ports are the default ports of the manager. The label selects its Pods. */
function webhookService(namespace: string): RbacObject {
  const { webhookPort } = readEnvironment({});
  const spec = {
    selector: { 'control-plane': 'controller-manager' },
    ports: [{ port: 443, targetPort: webhookPort }],
  };
  return { kind: service, object: { metadata: { name: webhookServiceName, namespace }, spec } };
}

function asObject({ kind, object }: RbacObject): object {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
}

/** Keys an object by kind and name, because manager and daemon need some of the objects alike. */
function keyed(object: object): [string, object] {
  return [JSON.stringify(object), object];
}
