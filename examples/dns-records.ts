/**
 * Synchronizes an external resource with the cluster: a DNS record for every ConfigMap that requests one. The finalizer
 * is added before the record is created and removed after it is deleted, so that no record outlives its ConfigMap,
 * however often the controller is killed in between.
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

/** A name server. Both operations are idempotent. */
export type NameServer = {
  set(record: Address): Promise<void>;
  remove(host: string): Promise<void>;
};

/** Decides the actions for a ConfigMap. */
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

/** Returns the controller for a name server. */
export function dnsRecords(server: NameServer): Controller {
  const selection = { labelSelector: 'example.com/dns=true' };
  return defineController({
    name: 'dns-records',
    for: configMap,
    selection,
    observe: (caches, key) => caches.of(configMap, selection).get(key),
    decide,
    effects: {
      // The input is the one that `decide` passes to the effect.
      set: (input) => server.set(input as Address),
      remove: (input) => server.remove(input as string),
    },
  });
}
