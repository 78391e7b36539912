/** What an installation brings to a cluster beside the programs themselves. */
import { service } from '@kruise/api/core/service';
import { kruiseDefinitions } from '@kruise/api/kruise/crds';
import { apiVersionOf } from '@kruise/schema/kind';
import { allFeatureGates, featureGates } from '../feature-gates.ts';
import { managerSettings } from '../settings.ts';
import { webhookConfigurations, webhookServiceName } from '../webhooks/configurations.ts';
import { readEnvironment } from './environment.ts';
import { type Granted, rightsOfDaemon, rightsOfManager } from './rights.ts';

/** All objects, in an order they can be made in: kinds, rights of manager and daemon, webhooks. */
export function manifestsFor(namespace: string): readonly object[] {
  const serving = { namespace, name: webhookServiceName };
  const definitions = kruiseDefinitions({ service: { ...serving, path: '/convert', port: 443 } });
  // A manager takes out what its gates do not let it answer, and puts it back when they do.
  const settings = managerSettings({ namespace, gates: featureGates(allFeatureGates) });
  const { mutating, validating } = webhookConfigurations(settings, ({ path }) => ({ service: { ...serving, path } }));
  const rights = new Map([...rightsOfManager(namespace), ...rightsOfDaemon(namespace)].map(asObject).map(keyed));
  return [...definitions, ...rights.values(), asObject(webhookService(namespace)), mutating, validating];
}

/** The ports are those a manager has by default; whose Pods they are is told by their label. */
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

/** Some are needed by manager and daemon alike. */
function keyed(object: object): [string, object] {
  return [JSON.stringify(object), object];
}
