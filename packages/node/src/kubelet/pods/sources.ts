/**
 * Informers of a kubelet: its Pods, its Node, services, and the objects its Pods refer to. A standalone kubelet watches
 * each object with its own permissions; many kubelets in one process share caches.
 */
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { type Node, node } from '@kruise/api/core/node';
import { type PersistentVolume, persistentVolume } from '@kruise/api/core/persistentvolume';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type Secret, secret } from '@kruise/api/core/secret';
import { type Service, service } from '@kruise/api/core/service';
import { type RuntimeClass, runtimeClass } from '@kruise/api/node/runtimeclass';
import type { Client } from '@kruise/client/client';
import { type Caches, type Change, type Informer, startInformer } from '@kruise/client/informer';
import { isNotFound } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';

/** Reference to an object that a Pod uses. */
export type ObjectReference = {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly namespace: string;
  readonly name: string;
};

/** Cluster state that a kubelet reads. */
export type Sources = {
  /**
   * Calls the handler for each change of a Pod bound to the node, existing Pods first. Resolves when the existing Pods
   * are handled.
   */
  watchPods(handler: (change: Change<Pod>) => void): Promise<void>;
  /** Calls the handler for each state of the Node. */
  watchNode(handler: (node: Node | undefined) => void): void;
  /** Returns the services for the environment of Pods in a namespace, once synced: its own, and the API server's. */
  services(namespace: string): Promise<readonly Service[]>;
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined>;
  volume(name: string): Promise<PersistentVolume | undefined>;
  runtimeClass(name: string): Promise<RuntimeClass | undefined>;
  /** Watches objects for a holder until `release`, and calls `onChange` when one of them changes. */
  watchReferences(holder: string, references: readonly ObjectReference[], onChange: () => void): void;
  unwatchReferences(holder: string): void;
};

type Holder = { readonly keys: ReadonlySet<string>; readonly onChange: () => void };

const watchedKinds = { ConfigMap: configMap, Secret: secret };

const keyOf = ({ kind, namespace, name }: ObjectReference) => `${kind}/${namespace}/${name}`;

/** Creates the sources of a standalone kubelet: one watch per object, as the node authorizer permits. */
export function watchSources(
  client: Client,
  clock: Clock,
  random: Random,
  { nodeName, onError }: { readonly nodeName: string; readonly onError: (error: unknown) => void },
  signal: AbortSignal,
): Sources {
  const inform = <K extends Kind>(
    kind: K,
    selection: { namespace?: string; fieldSelector?: string },
    until: AbortSignal,
  ) => startInformer(client, clock, random, kind, { ...selection, onError }, until);
  let services: Informer<Service> | undefined;
  const holders = new Map<string, Holder>();
  type Watched = { readonly informer: Informer<ConfigMap | Secret>; readonly stop: AbortController; holders: number };
  const watched = new Map<string, Watched>();

  const watch = (reference: ObjectReference): Watched => {
    const key = keyOf(reference);
    let found = watched.get(key);
    if (!found) {
      const stop = new AbortController();
      const until = AbortSignal.any([signal, stop.signal]);
      const selection = { namespace: reference.namespace, fieldSelector: `metadata.name=${reference.name}` };
      const informer: Informer<ConfigMap | Secret> = inform(watchedKinds[reference.kind], selection, until);
      informer.handle((change) => {
        if (change.cause !== 'event') return;
        for (const { keys, onChange } of holders.values()) if (keys.has(key)) onChange();
      });
      found = { informer, stop, holders: 0 };
      watched.set(key, found);
    }
    return found;
  };
  const releaseKey = (key: string) => {
    const found = watched.get(key);
    if (!found || --found.holders > 0) return;
    found.stop.abort();
    watched.delete(key);
  };
  async function object(reference: ObjectReference): Promise<ConfigMap | Secret | undefined> {
    const found = watched.get(keyOf(reference));
    if (!found) return undefinedIfNotFound(client.get(watchedKinds[reference.kind], reference));
    await found.informer.synced;
    return found.informer.get(`${reference.namespace}/${reference.name}`);
  }

  return {
    async watchPods(handler) {
      const informer = inform(pod, { fieldSelector: `spec.nodeName=${nodeName}` }, signal);
      informer.handle(handler);
      await informer.synced;
    },
    watchNode(handler) {
      const informer = inform(node, { fieldSelector: `metadata.name=${nodeName}` }, signal);
      informer.handle(({ type, object: found }) => handler(type === 'deleted' ? undefined : found));
    },
    async services(namespace) {
      services ??= inform(service, {}, signal);
      await services.synced;
      return servicesFor(services, namespace);
    },
    // The casts are safe: each informer holds objects of its own kind.
    configMap: async (namespace, name) =>
      (await object({ kind: 'ConfigMap', namespace, name })) as ConfigMap | undefined,
    secret: async (namespace, name) => (await object({ kind: 'Secret', namespace, name })) as Secret | undefined,
    claim: (namespace, name) => undefinedIfNotFound(client.get(persistentVolumeClaim, { namespace, name })),
    volume: (name) => undefinedIfNotFound(client.get(persistentVolume, { name })),
    runtimeClass: (name) => undefinedIfNotFound(client.get(runtimeClass, { name })),
    watchReferences(holder, references, onChange) {
      const keys = new Set(references.map(keyOf));
      const before = holders.get(holder)?.keys ?? new Set();
      holders.set(holder, { keys, onChange });
      for (const reference of references) if (!before.has(keyOf(reference))) watch(reference).holders++;
      for (const key of before) if (!keys.has(key)) releaseKey(key);
    },
    unwatchReferences(holder) {
      const held = holders.get(holder);
      holders.delete(holder);
      for (const key of held?.keys ?? []) releaseKey(key);
    },
  };
}

function servicesFor(services: Informer<Service>, namespace: string): readonly Service[] {
  const own = services.list({ namespace });
  const master = services.get('default/kubernetes');
  return master && namespace !== 'default' ? [master, ...own] : own;
}

async function undefinedIfNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Sources of many kubelets in one process, backed by shared caches. */
export type SharedSources = { of(nodeName: string, signal: AbortSignal): Sources };

/** Creates sources that read shared informer caches. */
export function sharedSources(caches: Caches, signal: AbortSignal): SharedSources {
  const pods = caches.informer(pod);
  const nodes = caches.informer(node);
  const services = caches.informer(service);
  const podHandlers = new Map<string, (change: Change<Pod>) => void>();
  const nodeHandlers = new Map<string, (node: Node | undefined) => void>();
  const byKey = new Map<string, Set<() => void>>();

  pods.handle(
    (change) => {
      const { nodeName } = change.object.spec ?? {};
      if (nodeName) podHandlers.get(nodeName)?.(change);
    },
    { signal },
  );
  nodes.handle(
    ({ type, object }) => nodeHandlers.get(object.metadata.name ?? '')?.(type === 'deleted' ? undefined : object),
    { signal },
  );
  const notifyHolders = (kind: ObjectReference['kind']) => (change: Change<ConfigMap | Secret>) => {
    if (change.cause !== 'event' || byKey.size === 0) return;
    const { namespace = '', name = '' } = change.object.metadata;
    for (const onChange of byKey.get(keyOf({ kind, namespace, name })) ?? []) onChange();
  };
  caches.informer(configMap).handle(notifyHolders('ConfigMap'), { signal });
  caches.informer(secret).handle(notifyHolders('Secret'), { signal });

  const found = async <K extends Kind>(kind: K, key: string) => {
    const informer = caches.informer(kind);
    if (!informer.hasSynced()) await informer.synced;
    return informer.get(key);
  };

  return {
    of(nodeName, stopSignal) {
      type HeldReferences = { readonly keys: readonly string[]; readonly onChange: () => void };
      const held = new Map<string, HeldReferences>();
      const unwatchReferences = (holder: string) => {
        const before = held.get(holder);
        held.delete(holder);
        for (const key of before?.keys ?? []) {
          const callbacks = byKey.get(key);
          callbacks?.delete(before!.onChange);
          if (callbacks?.size === 0) byKey.delete(key);
        }
      };
      stopSignal.addEventListener(
        'abort',
        () => {
          podHandlers.delete(nodeName);
          nodeHandlers.delete(nodeName);
          for (const holder of held.keys()) unwatchReferences(holder);
        },
        { once: true },
      );
      return {
        async watchPods(handler) {
          await pods.synced;
          if (stopSignal.aborted) return;
          podHandlers.set(nodeName, handler);
          for (const object of pods.byIndex(byNode, nodeName)) handler({ type: 'added', object, cause: 'initial' });
        },
        watchNode(handler) {
          nodeHandlers.set(nodeName, handler);
          const known = nodes.get(nodeName);
          if (known) handler(known);
        },
        async services(namespace) {
          if (!services.hasSynced()) await services.synced;
          return servicesFor(services, namespace);
        },
        configMap: (namespace, name) => found(configMap, `${namespace}/${name}`),
        secret: (namespace, name) => found(secret, `${namespace}/${name}`),
        claim: (namespace, name) => found(persistentVolumeClaim, `${namespace}/${name}`),
        volume: (name) => found(persistentVolume, name),
        runtimeClass: (name) => found(runtimeClass, name),
        watchReferences(holder, references, onChange) {
          unwatchReferences(holder);
          const keys = references.map(keyOf);
          held.set(holder, { keys, onChange });
          for (const key of keys) {
            const callbacks = byKey.get(key);
            if (callbacks) callbacks.add(onChange);
            else byKey.set(key, new Set([onChange]));
          }
        },
        unwatchReferences,
      };
    },
  };
}

/** Index of Pods by node name. */
export function byNode({ spec }: Pod): readonly string[] {
  return spec?.nodeName ? [spec.nodeName] : [];
}
