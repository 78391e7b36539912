/**
 * Scheduler extenders, called over HTTP: they may filter and score nodes, change preemption victims, and bind Pods.
 * JSON field names are capitalized, as in Go.
 */

import type { Container } from '@kruise/api/core/container';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { trimTrailing } from '@kruise/values/trim';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import { maxNodeScore, type Rejection } from '../plugin.ts';
import type { Candidate } from '../preemption.ts';

export type ExtenderConfiguration = {
  readonly urlPrefix: string;
  /** URL path of each verb; verbs without a path are not called. */
  readonly filterVerb: string;
  readonly prioritizeVerb: string;
  readonly preemptVerb: string;
  readonly bindVerb: string;
  readonly weight: number;
  /** The extender caches nodes itself and only needs their names. */
  readonly nodeCacheCapable: boolean;
  /** The extender handles only Pods that request these resources; all Pods if empty. */
  readonly managedResources: readonly string[];
  /** Scheduling continues without the extender if it fails. */
  readonly ignorable: boolean;
  readonly httpTimeoutMs: number;
  readonly tls?: ExtenderTls;
};

export type ExtenderTls = {
  readonly insecure?: boolean;
  readonly serverName?: string;
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
};

/** Posts JSON and returns the response; implemented by the entry point. */
export type Post = (
  url: string,
  body: unknown,
  extender: ExtenderConfiguration,
) => Promise<{ readonly code: number; readonly body: unknown }>;

export type Extender = {
  readonly isIgnorable: boolean;
  isInterested(pod: PodInfo): boolean;
  /** Returns the feasible nodes and the rejections of the others. */
  readonly filter?: (
    pod: PodInfo,
    nodes: readonly NodeInfo[],
  ) => Promise<{ readonly nodes: readonly NodeInfo[]; readonly rejections: ReadonlyMap<string, Rejection> }>;
  /** Returns the scores of nodes. */
  readonly prioritize?: (pod: PodInfo, nodes: readonly NodeInfo[]) => Promise<ReadonlyMap<string, number>>;
  /** Returns the accepted candidates and their victims. */
  readonly preempt?: (pod: PodInfo, candidates: readonly Candidate[], nodeOf: NodeOf) => Promise<readonly Candidate[]>;
  readonly bind?: (pod: PodInfo, node: string) => Promise<void>;
};

type NodeOf = (name: string) => NodeInfo | undefined;

/** Plugin name of extender rejections. Their reasons are unknown, so every event may help. */
export const extenderName = 'Extender';

/** Maximum score of an extender. */
const maxExtenderScore = 10;

type FilterResult = {
  readonly Nodes?: { readonly items?: readonly Node[] } | null;
  readonly NodeNames?: readonly string[] | null;
  readonly FailedNodes?: { readonly [node: string]: string } | null;
  readonly FailedAndUnresolvableNodes?: { readonly [node: string]: string } | null;
  readonly Error?: string;
};
type HostPriority = { readonly Host: string; readonly Score: number };
type MetaVictims = { readonly Pods?: readonly { readonly UID: string }[] | null; readonly NumPDBViolations?: number };
type PreemptionResult = { readonly NodeNameToMetaVictims?: { readonly [node: string]: MetaVictims | null } | null };

export function createExtender(configuration: ExtenderConfiguration, post: Post): Extender {
  const { urlPrefix, filterVerb, prioritizeVerb, preemptVerb, bindVerb, weight, nodeCacheCapable } = configuration;
  const managed = new Set(configuration.managedResources);

  async function ask<T>(verb: string, body: unknown): Promise<T> {
    const url = `${trimTrailing(urlPrefix, '/')}/${verb}`;
    const answer = await post(url, body, configuration);
    if (answer.code !== 200) throw new Error(`failed ${verb} with extender at URL ${url}, code ${answer.code}`);
    // Responses are trusted to follow the extender API; missing fields count as empty.
    return answer.body as T;
  }
  const aboutNodes = ({ pod }: PodInfo, nodes: readonly NodeInfo[]) => ({
    Pod: pod,
    Nodes: nodeCacheCapable ? null : { kind: 'NodeList', apiVersion: 'v1', items: nodes.map(({ node }) => node) },
    NodeNames: nodeCacheCapable ? nodes.map(({ name }) => name) : null,
  });
  const wantsManaged = ({ resources }: Container) =>
    [resources?.requests, resources?.limits].some((list) => Object.keys(list ?? {}).some((name) => managed.has(name)));

  return {
    isIgnorable: configuration.ignorable,
    isInterested: ({ spec }) =>
      managed.size === 0 || [...(spec.containers ?? []), ...(spec.initContainers ?? [])].some(wantsManaged),
    ...(filterVerb
      ? {
          async filter(pod, nodes) {
            const result = await ask<FilterResult>(filterVerb, aboutNodes(pod, nodes));
            if (result.Error) throw new Error(result.Error);
            return { nodes: nodesOf(result, nodes, urlPrefix), rejections: rejectionsOf(result) };
          },
        }
      : {}),
    ...(prioritizeVerb
      ? {
          async prioritize(pod, nodes) {
            const scores = await ask<readonly HostPriority[]>(prioritizeVerb, aboutNodes(pod, nodes));
            const worth = weight * (maxNodeScore / maxExtenderScore);
            return new Map(scores.map(({ Host, Score }) => [Host, Score * worth]));
          },
        }
      : {}),
    ...(preemptVerb
      ? {
          async preempt(pod, candidates, nodeOf) {
            const body = { Pod: pod.pod, ...victimsBody(candidates, nodeCacheCapable) };
            const { NodeNameToMetaVictims } = await ask<PreemptionResult>(preemptVerb, body);
            return Object.entries(NodeNameToMetaVictims ?? {}).flatMap(([node, victims]) => {
              const candidate = candidateOf(node, victims, nodeOf, urlPrefix);
              if (candidate.victims.length > 0) return candidate;
              if (configuration.ignorable) return [];
              throw new Error(`expected at least one victim pod on node "${node}"`);
            });
          },
        }
      : {}),
    ...(bindVerb
      ? {
          async bind({ name, namespace, uid }, node) {
            const body = { PodName: name, PodNamespace: namespace, PodUID: uid, Node: node };
            const { Error: why } = await ask<{ readonly Error?: string }>(bindVerb, body);
            if (why) throw new Error(why);
          },
        }
      : {}),
  };
}

function nodesOf({ NodeNames, Nodes }: FilterResult, nodes: readonly NodeInfo[], url: string): readonly NodeInfo[] {
  const named = NodeNames ?? Nodes?.items?.map(({ metadata }) => metadata.name ?? '') ?? [];
  const known = new Map(nodes.map((node) => [node.name, node]));
  return named.map((name) => {
    const node = known.get(name);
    if (node) return node;
    throw new Error(`extender "${url}" claims a filtered node "${name}" which is not found in the input node list`);
  });
}

function rejectionsOf({ FailedNodes, FailedAndUnresolvableNodes }: FilterResult): ReadonlyMap<string, Rejection> {
  const rejection = (reason: string, isPreemptable: boolean) => ({
    plugin: extenderName,
    isPreemptable,
    reasons: [reason],
  });
  return new Map([
    ...Object.entries(FailedNodes ?? {}).map(([node, why]) => [node, rejection(why, true)] as const),
    ...Object.entries(FailedAndUnresolvableNodes ?? {}).map(([node, why]) => [node, rejection(why, false)] as const),
  ]);
}

function victimsBody(candidates: readonly Candidate[], isMeta: boolean): object {
  const byNode = (podOf: (victim: PodInfo) => Pod | { readonly UID: string }) =>
    Object.fromEntries(
      candidates.map(({ node, victims, violations }) => [
        node,
        { Pods: victims.map(podOf), NumPDBViolations: violations },
      ]),
    );
  return isMeta
    ? { NodeNameToVictims: null, NodeNameToMetaVictims: byNode(({ uid }) => ({ UID: uid })) }
    : { NodeNameToVictims: byNode(({ pod }) => pod), NodeNameToMetaVictims: null };
}

function candidateOf(node: string, victims: MetaVictims | null, nodeOf: NodeOf, url: string): Candidate {
  const pods = nodeOf(node)?.pods;
  const found = (victims?.Pods ?? []).map(({ UID }) => {
    const pod = pods?.get(UID);
    if (pod) return pod;
    throw new Error(
      `extender: ${url} claims to preempt pod (UID: ${UID}) on node: ${node}, but the pod is not found on that node`,
    );
  });
  return { node, victims: found, violations: victims?.NumPDBViolations ?? 0 };
}
