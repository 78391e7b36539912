/**
 * Keeps something outside the cluster in step with what is in it: a DNS record for every ConfigMap that asks for one.
 * The finalizer is there before the record is, and goes after it, so that no record outlives its ConfigMap however
 * often this is killed in between.
 */
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import {
  addFinalizer,
  effect,
  hasFinalizer,
  isBeingDeleted,
  patch,
  record,
  removeFinalizer,
} from '@kruise/client/actions';
import { type Controller, type Decision, defineController } from '@kruise/client/controller';

const finalizer = 'example.com/dns';
const registered = 'example.com/dns-registered';

export type Address = { readonly host: string; readonly address: string };

/** A name server: setting a record twice, or removing one that is gone, does no harm. */
export type NameServer = {
  set(record: Address): Promise<void>;
  remove(host: string): Promise<void>;
};

/** What is to be done about a ConfigMap. */
export function decide(found: ConfigMap): Decision {
  const { host = '', address = '' } = found.data ?? {};
  const known = found.metadata.annotations?.[registered];
  if (isBeingDeleted(found)) {
    if (!hasFinalizer(found, finalizer)) return { actions: [] };
    return { actions: [effect('remove', known?.split('=')[0] ?? host), removeFinalizer(found, finalizer)] };
  }
  if (!hasFinalizer(found, finalizer)) return { actions: [addFinalizer(found, finalizer)] };
  const wanted = `${host}=${address}`;
  if (known === wanted) return { actions: [] };
  const former = known?.split('=')[0];
  return {
    actions: [
      ...(former !== undefined && former !== host ? [effect('remove', former)] : []),
      effect('set', { host, address }),
      patch(found, { metadata: { annotations: { [registered]: wanted } } }),
      record({ about: found, type: 'Normal', reason: 'Registered', message: `${host} is ${address}` }),
    ],
  };
}

/** The controller, for one name server. */
export function dnsRecords(server: NameServer): Controller {
  const selection = { labelSelector: 'example.com/dns=true' };
  return defineController({
    name: 'dns-records',
    for: configMap,
    selection,
    observe: (caches, key) => caches.of(configMap, selection).get(key),
    decide,
    effects: {
      // What `decide` puts into an effect is what arrives here.
      set: (input) => server.set(input as Address),
      remove: (input) => server.remove(input as string),
    },
  });
}
