/**
 * Many nodes in one process. They share one copy of what they see of the cluster, one network and one set of images, so
 * that a node more costs a lease to renew and little else.
 */

import { createHash } from 'node:crypto';
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
import { createKubelet, type Kubelet, type KubeletOptions } from './kubelet/kubelet.ts';
import { sharedSources } from './kubelet/sources.ts';
import type { NodeDirectory } from './node-directory.ts';
import { serviceRoutes } from './proxy/service-routes.ts';
import { slowed } from './slow-transport.ts';

/** What a node is like; what is left out is as for any node. */
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
  /** The node's own; by default the next of `addressRange`. */
  readonly address?: string;
  /** Where its Pods' addresses come from; by default what the API says (`spec.podCIDR`). */
  readonly podRange?: string;
};

/** The nodes that are wanted. */
export type NodesOptions = {
  readonly count: number;
  /** What all nodes are like, or each by its number, which begins with 1. */
  readonly node?: NodeOptions | ((number: number) => NodeOptions);
  /** More nodes to begin with, by name; one that is among the others already is not made twice. */
  readonly more?: readonly (NodeOptions & { readonly name: string })[];
  /** A client with the rights of a node: `system:node:<name>` of the group `system:nodes`. */
  readonly clientOf: (nodeName: string) => Client;
  /**
   * Someone who may list and watch Pods, nodes, services, EndpointSlices, ConfigMaps, Secrets, volumes and claims for all
   * nodes.
   */
  readonly reader: Client;
  /** What is known of all that already, where someone else in the process knows it. */
  readonly caches?: Caches;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
  /** Where the API server finds the nodes. */
  readonly directory?: NodeDirectory;
  /** Told of each node that is switched on, and until when: for what else runs on nodes. */
  readonly accompany?: (node: LocalNode, until: AbortSignal) => void;
  /** Where addresses of nodes come from. */
  readonly addressRange?: string;
  /** What runs a node's containers; by default a simulation. */
  readonly runtimeOf?: (node: {
    readonly name: string;
    readonly address: string;
    readonly podRange?: string;
  }) => NodeRuntime;
  /** Images that simulated nodes have from the start. */
  readonly images?: readonly string[];
  /** How simulated Pods get to servers that are not simulated: the API server above all. */
  readonly outside?: Outside;
};

/** A node of this process. */
export type LocalNode = {
  readonly name: string;
  readonly address: string;
  readonly runtime: NodeRuntime;
  /** Undefined while the node is stopped or lost. */
  readonly kubelet: () => Kubelet | undefined;
};

/** The nodes of this process. */
export type Nodes = {
  readonly list: () => readonly LocalNode[];
  readonly get: (name: string) => LocalNode | undefined;
  /** Starts one more; resolves once it is in the API. */
  add(options?: NodeOptions): Promise<LocalNode>;
  /** Switches a node off: all that runs on it ends, and nothing is said. Its object stays in the API. */
  stop(name: string): Promise<void>;
  /** Cuts a node off: what runs on it goes on, but nobody hears of it. */
  lose(name: string): Promise<void>;
  /** Switches a node on again, or lets it be heard again. */
  start(name: string): Promise<void>;
  /** Takes a node away for good: all that runs on it ends. Its object is for others to delete. */
  remove(name: string): Promise<void>;
  /** Has all that a node says and asks take so much longer; 0 for no longer. */
  slow(name: string, delayMs: number): void;
  /** Resolves once all nodes that were wanted at first are in the API. */
  readonly registered: Promise<void>;
  /** Resolves when all kubelets have come to a stop after the signal was aborted. */
  stopped(): Promise<void>;
};

type Entry = {
  readonly node: LocalNode;
  readonly options: NodeOptions;
  kubelet: Kubelet | undefined;
  stop: AbortController;
  delayMs: number;
  /** How often it has been switched on. */
  boots: number;
};

const kubeletPort = 10250;

/** Starts nodes, which run until the signal is aborted. */
export function startNodes(options: NodesOptions, signal: AbortSignal): Nodes {
  const { clock, random, log = silentLog, directory, clientOf } = options;
  const onError = (error: unknown) => {
    if (!signal.aborted) log.warn({ error }, 'a request failed');
  };
  const caches = options.caches ?? createCaches(options.reader, clock, random, { onError }, signal);
  const shared = sharedSources(caches, signal);
  const nodeAddresses = new Set<string>();
  const services = serviceRoutes({
    services: caches.informer(service),
    slices: caches.informer(endpointSlice),
    random,
    now: () => clock.now(),
    isNodeAddress: (address) => nodeAddresses.has(address),
  });
  const network = createSimulatedNetwork({ services, ...(options.outside ? { outside: options.outside } : {}) });
  const registry = createRegistry();
  const range = parsePrefix(options.addressRange ?? '172.18.0.0/16');
  const entries = new Map<string, Entry>();
  let numbers = 0;

  const simulated: NonNullable<NodesOptions['runtimeOf']> = ({ address, podRange }) =>
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
  const runtimeOf = options.runtimeOf ?? simulated;

  /** A number whose node nobody else is called like. */
  function nextNumber(): number {
    do numbers++;
    while (entries.has(`node-${numbers}`));
    return numbers;
  }

  function prepare(more: NodeOptions): Entry {
    const number = nextNumber();
    const common = typeof options.node === 'function' ? options.node(number) : (options.node ?? {});
    const all = { ...common, ...more };
    const name = all.name ?? `node-${number}`;
    if (entries.has(name)) throw new Error(`there is a node ${name} already`);
    // The first two are the network's own and its gateway.
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
    nodeAddresses.add(address);
    return entry;
  }

  async function boot(entry: Entry): Promise<void> {
    const { node, options: given } = entry;
    const { name, address, runtime } = node;
    // Asked all the time whether it is aborted, which a signal of several others has to ask each of them.
    entry.stop = linkedController(signal);
    const until = entry.stop.signal;
    const { name: _name, address: _address, podRange: _podRange, ...wanted } = given;
    const kubelet = createKubelet(
      {
        ...wanted,
        info: { ...identityOf(name, entry.boots), ...wanted.info },
        client: slowed(clientOf(name), clock, () => entry.delayMs),
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

  async function halt(entry: Entry): Promise<void> {
    directory?.remove(entry.node.name);
    entry.stop.abort();
    await entry.kubelet?.stopped;
    entry.kubelet = undefined;
  }

  const known = (name: string): Entry => {
    const entry = entries.get(name);
    if (!entry) throw new Error(`there is no node ${name}`);
    return entry;
  };

  async function switchOff(entry: Entry): Promise<void> {
    await halt(entry);
    entry.boots++;
    const { runtime } = entry.node;
    const { items } = await runtime.listPodSandbox({ filter: { state: 'SANDBOX_READY' } });
    for (const { id } of items) await runtime.stopPodSandbox({ podSandboxId: id });
  }

  const first = Array.from({ length: options.count }, () => prepare({}));
  for (const wanted of options.more ?? []) if (!entries.has(wanted.name)) first.push(prepare(wanted));
  return {
    list: () => [...entries.values()].map(({ node }) => node),
    get: (name) => entries.get(name)?.node,
    async add(more = {}) {
      const entry = prepare(more);
      await boot(entry);
      return entry.node;
    },
    stop: (name) => switchOff(known(name)),
    async remove(name) {
      const entry = known(name);
      await switchOff(entry);
      entries.delete(name);
      nodeAddresses.delete(entry.node.address);
    },
    lose: (name) => halt(known(name)),
    async start(name) {
      const entry = known(name);
      if (!entry.kubelet) await boot(entry);
    },
    slow(name, delayMs) {
      known(name).delayMs = delayMs;
    },
    registered: Promise.all(first.map(boot)).then(() => {}),
    async stopped() {
      await Promise.all([...entries.values()].map(({ kubelet }) => kubelet?.stopped));
    },
  };
}

/** What tells one machine from another, and one life of it from the next; the same whenever it is asked for. */
function identityOf(name: string, boots: number) {
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
