/**
 * Many nodes in one process. They share informer caches, one network and one image registry, so that an additional node
 * costs little more than a lease to renew.
 */

import { createHash } from 'node:crypto';
import { node as nodeKind } from '@kruise/api/core/node';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { service } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import type { Client } from '@kruise/client/client';
import { type Caches, createCaches } from '@kruise/client/informer';
import { type Log, silentLog } from '@kruise/client/log';
import { addressAt, formatAddress, parsePrefix } from '@kruise/values/address';
import type { Clock } from '@kruise/values/clock';
import { linkedController } from '@kruise/values/linked-controller';
import type { Random } from '@kruise/values/random';
import type { NodeRuntime } from './cri/runtime.ts';
import { createSimulatedNetwork, type Outside } from './cri/simulated/network.ts';
import { createRegistry } from './cri/simulated/registry.ts';
import { createSimulatedRuntime } from './cri/simulated/simulated-runtime.ts';
import { createKubelet, type Kubelet } from './kubelet/kubelet.ts';
import type { KubeletOptions } from './kubelet/kubelet-options.ts';
import { sharedSources } from './kubelet/pods/sources.ts';
import { withLatency } from './latency.ts';
import type { NodeDirectory } from './node-directory.ts';
import { networkPolicies } from './proxy/network-policies.ts';
import { type RoutingNode, serviceRoutes } from './proxy/service-routes.ts';

/** Options of one node; omitted fields have the common defaults. */
export type NodeOptions = Pick<
  KubeletOptions,
  | 'quiet'
  | 'gates'
  | 'labels'
  | 'taints'
  | 'unschedulable'
  | 'capacity'
  | 'reserved'
  | 'info'
  | 'settings'
  | 'providerId'
> & {
  readonly name?: string;
  /** IP address of the node; by default the next one of `addressRange`. */
  readonly address?: string;
  /** CIDR of the Pod IPs; by default the Node's `spec.podCIDR`. */
  readonly podRange?: string;
};

/** Options of all nodes. */
export type NodesOptions = {
  readonly count: number;
  /** Common node options, or a function of the node number, which starts at 1. */
  readonly node?: NodeOptions | ((number: number) => NodeOptions);
  /** Additional initial nodes by name; a name that already exists is not created twice. */
  readonly more?: readonly (NodeOptions & { readonly name: string })[];
  /** Returns a client with the permissions of a node: `system:node:<name>` in the group `system:nodes`. */
  readonly clientOf: (nodeName: string) => Client;
  /**
   * Client that may list and watch Pods, Nodes, Services, EndpointSlices, NetworkPolicies, Namespaces, ConfigMaps,
   * Secrets, PersistentVolumes and PVCs for all nodes.
   */
  readonly reader: Client;
  /** Existing informer caches of the process to share. */
  readonly caches?: Caches;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
  /** Directory where the API server looks up the nodes. */
  readonly directory?: NodeDirectory;
  /**
   * Called when a node starts, with a signal that is aborted when the node stops: for other agents that run on nodes.
   */
  readonly accompany?: (node: LocalNode, until: AbortSignal) => void;
  /** CIDR of the node addresses. */
  readonly addressRange?: string;
  /** Creates the container runtime of a node; a simulated runtime by default. */
  readonly runtimeOf?: (node: {
    readonly name: string;
    readonly address: string;
    readonly podRange?: string;
  }) => NodeRuntime;
  /** Images that are present on simulated nodes from the start. */
  readonly images?: readonly string[];
  /** Connections of simulated Pods to real servers, such as the API server. */
  readonly outside?: Outside;
};

/** A node of this process. */
export type LocalNode = {
  readonly name: string;
  readonly address: string;
  readonly runtime: NodeRuntime;
  /** Returns the kubelet; undefined while the node is stopped or disconnected. */
  readonly kubelet: () => Kubelet | undefined;
};

/** Nodes of this process. */
export type Nodes = {
  readonly list: () => readonly LocalNode[];
  readonly get: (name: string) => LocalNode | undefined;
  /** Adds a node; resolves once the Node is registered. */
  add(options?: NodeOptions): Promise<LocalNode>;
  /** Powers a node off: its containers end without a status update. The Node object remains in the API. */
  stop(name: string): Promise<void>;
  /** Disconnects a node from the API server: its containers keep running. */
  disconnect(name: string): Promise<void>;
  /** Starts a stopped node, or reconnects a disconnected one. */
  start(name: string): Promise<void>;
  /** Removes a node for good: its containers end. The caller deletes the Node object. */
  remove(name: string): Promise<void>;
  /** Sets an additional latency for all requests of a node; 0 removes it. */
  setLatency(name: string, delayMs: number): void;
  /** Resolves once all initial nodes are registered. */
  readonly registered: Promise<void>;
  /** Resolves when all kubelets have stopped after the signal was aborted. */
  stopped(): Promise<void>;
};

type Entry = {
  readonly node: LocalNode;
  readonly options: NodeOptions;
  kubelet: Kubelet | undefined;
  stop: AbortController;
  delayMs: number;
  /** Number of boots. */
  boots: number;
};

const kubeletPort = 10250;
const zoneLabel = 'topology.kubernetes.io/zone';

/** Indexes the Pods that have an IP of their own; those on the host network have that of the node. */
function byPodIP({ spec, status }: Pod): readonly string[] {
  if (spec?.hostNetwork || status?.phase === 'Succeeded' || status?.phase === 'Failed') return [];
  return (status?.podIPs ?? []).flatMap(({ ip }) => ip ?? []);
}

/** Starts nodes that run until the signal is aborted. */
export function startNodes(options: NodesOptions, signal: AbortSignal): Nodes {
  const { clock, random, log = silentLog, directory, clientOf } = options;
  const onError = (error: unknown) => {
    if (!signal.aborted) log.warn({ error }, 'request failed');
  };
  const caches = options.caches ?? createCaches(options.reader, clock, random, { onError }, signal);
  const shared = sharedSources(caches, signal);
  const nodeNames = new Map<string, string>();
  const routingNode = (name: string | undefined): RoutingNode | undefined => {
    const entry = name === undefined ? undefined : entries.get(name);
    if (!entry) return undefined;
    const { name: nodeName, address } = entry.node;
    const zone = caches.informer(nodeKind).get(nodeName)?.metadata.labels?.[zoneLabel];
    return { name: nodeName, address, ...(zone === undefined ? {} : { zone }) };
  };
  const services = serviceRoutes({
    services: caches.informer(service),
    slices: caches.informer(endpointSlice),
    random,
    now: () => clock.now(),
    findNode: (address) => routingNode(nodeNames.get(address)),
    findNodeOfPod: (address) => routingNode(caches.informer(podKind).byIndex(byPodIP, address)[0]?.spec?.nodeName),
  });
  const entries = new Map<string, Entry>();
  const filter = networkPolicies({
    caches,
    clock,
    isAddressOfNode: (address, name) => entries.get(name)?.node.address === address,
  });
  const network = createSimulatedNetwork({
    services,
    filter,
    ...(options.outside ? { outside: options.outside } : {}),
  });
  const registry = createRegistry();
  const range = parsePrefix(options.addressRange ?? '172.18.0.0/16');
  let numbers = 0;

  const createDefaultRuntime: NonNullable<NodesOptions['runtimeOf']> = ({ address, podRange }) =>
    createSimulatedRuntime({
      clock,
      random,
      network,
      registry,
      nodeAddress: address,
      signal,
      ...(podRange === undefined ? {} : { podCidr: podRange }),
      ...(options.images ? { images: options.images } : {}),
    });
  const runtimeOf = options.runtimeOf ?? createDefaultRuntime;

  /** Returns the next node number whose name is free. */
  function nextNumber(): number {
    do numbers++;
    while (entries.has(`node-${numbers}`));
    return numbers;
  }

  function addEntry(more: NodeOptions): Entry {
    const number = nextNumber();
    const defaults = typeof options.node === 'function' ? options.node(number) : (options.node ?? {});
    const all = { ...defaults, ...more };
    const name = all.name ?? `node-${number}`;
    if (entries.has(name)) throw new Error(`node ${name} already exists`);
    // The first two addresses belong to the network and its gateway.
    const address = all.address ?? formatAddress(addressAt(range, BigInt(number + 1)));
    const { podRange } = all;
    const runtime = runtimeOf({ name, address, ...(podRange === undefined ? {} : { podRange }) });
    const entry: Entry = {
      node: { name, address, runtime, kubelet: () => entry.kubelet },
      options: all,
      kubelet: undefined,
      stop: new AbortController(),
      delayMs: 0,
      boots: 1,
    };
    entries.set(name, entry);
    nodeNames.set(address, name);
    return entry;
  }

  async function boot(entry: Entry): Promise<void> {
    const { node, options: nodeOptions } = entry;
    const { name, address, runtime } = node;
    // A linked controller instead of AbortSignal.any: the signal is checked very often, and a composite signal checks
    // all its sources each time.
    entry.stop = linkedController(signal);
    const until = entry.stop.signal;
    const { name: _name, address: _address, podRange: _podRange, ...kubeletOptions } = nodeOptions;
    const kubelet = createKubelet(
      {
        ...kubeletOptions,
        info: { ...machineIds(name, entry.boots), ...kubeletOptions.info },
        client: withLatency(clientOf(name), clock, () => entry.delayMs),
        clock,
        random,
        runtime,
        nodeName: name,
        log,
        addresses: [address],
        port: kubeletPort,
        sources: shared.of(name, until),
      },
      until,
    );
    entry.kubelet = kubelet;
    directory?.add(name, { handler: kubelet.handler, network: runtime.network, address, port: kubeletPort });
    options.accompany?.(node, until);
    await kubelet.registered;
  }

  async function stopKubelet(entry: Entry): Promise<void> {
    directory?.remove(entry.node.name);
    entry.stop.abort();
    await entry.kubelet?.stopped;
    entry.kubelet = undefined;
  }

  const getEntry = (name: string): Entry => {
    const entry = entries.get(name);
    if (!entry) throw new Error(`no such node: ${name}`);
    return entry;
  };

  async function powerOff(entry: Entry): Promise<void> {
    await stopKubelet(entry);
    entry.boots++;
    const { runtime } = entry.node;
    const { items } = await runtime.listPodSandbox({ filter: { state: 'SANDBOX_READY' } });
    for (const { id } of items) await runtime.stopPodSandbox({ podSandboxId: id });
  }

  const initialEntries = Array.from({ length: options.count }, () => addEntry({}));
  for (const kubeletOptions of options.more ?? [])
    if (!entries.has(kubeletOptions.name)) initialEntries.push(addEntry(kubeletOptions));
  return {
    list: () => [...entries.values()].map(({ node }) => node),
    get: (name) => entries.get(name)?.node,
    async add(more = {}) {
      const entry = addEntry(more);
      await boot(entry);
      return entry.node;
    },
    stop: (name) => powerOff(getEntry(name)),
    async remove(name) {
      const entry = getEntry(name);
      await powerOff(entry);
      entries.delete(name);
      nodeNames.delete(entry.node.address);
    },
    disconnect: (name) => stopKubelet(getEntry(name)),
    async start(name) {
      const entry = getEntry(name);
      if (!entry.kubelet) await boot(entry);
    },
    setLatency(name, delayMs) {
      getEntry(name).delayMs = delayMs;
    },
    registered: Promise.all(initialEntries.map(boot)).then(() => {}),
    async stopped() {
      await Promise.all([...entries.values()].map(({ kubelet }) => kubelet?.stopped));
    },
  };
}

/** Returns deterministic machine IDs of a node; the boot ID changes with every boot. */
function machineIds(name: string, boots: number) {
  const digest = (text: string) => createHash('md5').update(text).digest('hex');
  const uuid = (text: string) => digest(text).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return {
    machineID: digest(name),
    systemUUID: uuid(name),
    bootID: uuid(`${name}/${boots}`),
    kernelVersion: '6.12.0-simulated',
    osImage: 'Simulated Linux',
  };
}
