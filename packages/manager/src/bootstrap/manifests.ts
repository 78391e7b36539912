/** Objects that an installation creates in a cluster besides the programs themselves. */
import { service } from '@kruise/api/core/service';
import { kruiseDefinitions } from '@kruise/api/kruise/crds';
import { apiVersionOf } from '@kruise/schema/kind';
import { allFeatureGates, featureGates } from '../feature-gates.ts';
import { managerSettings } from '../settings.ts';
import { webhookConfigurations, webhookServiceName } from '../webhooks/configurations.ts';
import { readEnvironment } from './environment.ts';
import { type Granted, rightsOfDaemon, rightsOfManager } from './rights.ts';

/** Returns all objects in the order in which they can be created: CRDs, RBAC of manager and daemon, webhooks. */
export function manifestsFor(namespace: string): readonly object[] {
  const serving = { namespace, name: webhookServiceName };
  const definitions = kruiseDefinitions({ service: { ...serving, path: '/convert', port: 443 } });
  // All webhooks are listed. A running manager removes the webhooks that its feature gates disable, and restores them
  // when the gates are enabled.
  const settings = managerSettings({ namespace, gates: featureGates(allFeatureGates) });
  const { mutating, validating } = webhookConfigurations(settings, ({ path }) => ({ service: { ...serving, path } }));
  const rights = new Map([...rightsOfManager(namespace), ...rightsOfDaemon(namespace)].map(asObject).map(keyed));
  return [...definitions, ...rights.values(), asObject(webhookService(namespace)), mutating, validating];
}

/** The ports are the default ports of the manager. The label selects its Pods. */
function webhookService(namespace: string): Granted {
  const { webhookPort } = readEnvironment({});
  const spec = {
    selector: { 'control-plane': 'controller-manager' },
    ports: [{ port: 443, targetPort: webhookPort }],
  };
  return { kind: service, object: { metadata: { name: webhookServiceName, namespace }, spec } };
}

function asObject({ kind, object }: Granted): object {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
}

/** Keys an object by kind and name, because manager and daemon need some of the objects alike. */
function keyed(object: object): [string, object] {
  return [JSON.stringify(object), object];
}
