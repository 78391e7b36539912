/** Scheduling decisions with extenders. Their calls are asynchronous, so nodes may change or disappear meanwhile. */
import type { Log } from '@kruise/client/log';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import {
  chooseNode,
  type Decision,
  type Feasible,
  findFeasible,
  type Outcome,
  type SchedulingState,
} from '../decide.ts';
import type { Rejection } from '../plugin.ts';
import type { Candidate } from '../preemption.ts';
import type { Profile } from '../profile.ts';
import { type Extender, extenderName } from './extender.ts';

/** Selects the node of a Pod with the plugins of its profile and the extenders that are interested in it. */
export async function decideWith(
  extenders: readonly Extender[],
  profile: Profile,
  pod: PodInfo,
  state: SchedulingState,
  log: Log,
): Promise<Outcome> {
  const interested = extenders.filter((extender) => extender.isInterested(pod));
  const { found, nextStart } = findFeasible(profile, pod, state);
  if (found.type !== 'feasible') return { decision: found, nextStart };
  const kept = await filterNodes(interested, pod, found, log);
  if (kept.nodes.length === 0) {
    const { diagnosis, filters } = kept;
    return { decision: { type: 'rejected', diagnosis, filters }, nextStart };
  }
  const bonus = kept.nodes.length === 1 ? undefined : await extenderScores(interested, pod, kept.nodes, log);
  // Nodes that disappeared are dropped; changed nodes are checked by their kubelet on admission.
  const nodes = kept.nodes.filter(({ name }) => state.cluster.node(name));
  if (nodes.length === 0) throw new Error('all feasible nodes were deleted');
  const decision: Decision = {
    type: 'placed',
    node: chooseNode(profile, pod, { ...kept, nodes }, state, bonus),
  };
  return { decision, nextStart };
}

async function filterNodes(extenders: readonly Extender[], pod: PodInfo, found: Feasible, log: Log): Promise<Feasible> {
  const rejections = new Map<string, Rejection>(found.diagnosis.rejections);
  let nodes: readonly NodeInfo[] = found.nodes;
  for (const { filter, isIgnorable } of extenders) {
    if (!filter || nodes.length === 0) continue;
    try {
      const result = await filter(pod, nodes);
      for (const [node, rejection] of result.rejections) rejections.set(node, rejection);
      nodes = result.nodes;
    } catch (error) {
      if (!isIgnorable) throw error;
      log.warn({ pod: pod.key, error }, 'extender failed and is ignored');
    }
  }
  const isNarrowed = nodes.length !== found.nodes.length;
  const plugins = isNarrowed ? new Set([...found.diagnosis.plugins, extenderName]) : found.diagnosis.plugins;
  return { ...found, nodes, diagnosis: { ...found.diagnosis, rejections, plugins } };
}

/** Returns the scores of extenders; a failing extender adds none. */
async function extenderScores(
  extenders: readonly Extender[],
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  log: Log,
): Promise<ReadonlyMap<string, number>> {
  const bonus = new Map<string, number>();
  await Promise.all(
    extenders.map(async ({ prioritize }) => {
      try {
        for (const [node, score] of (await prioritize?.(pod, nodes)) ?? []) {
          bonus.set(node, (bonus.get(node) ?? 0) + score);
        }
      } catch (error) {
        log.warn({ pod: pod.key, error }, 'extender failed and is ignored');
      }
    }),
  );
  return bonus;
}

/** Returns the preemption candidates that extenders accept. */
export async function filterCandidates(
  extenders: readonly Extender[],
  pod: PodInfo,
  candidates: readonly Candidate[],
  nodeOf: (name: string) => NodeInfo | undefined,
  log: Log,
): Promise<readonly Candidate[]> {
  let left = candidates;
  for (const { preempt, isInterested, isIgnorable } of extenders) {
    if (!preempt || !isInterested(pod) || left.length === 0) continue;
    try {
      left = await preempt(pod, left, nodeOf);
    } catch (error) {
      if (!isIgnorable) throw error;
      log.warn({ pod: pod.key, error }, 'extender failed and is ignored');
    }
  }
  return left;
}
