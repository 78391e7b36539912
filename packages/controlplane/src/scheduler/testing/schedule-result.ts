/** Test helpers that run the scheduling algorithm and summarize its result. */
import type { Pod } from '@kruise/api/core/pod';
import { seededRandom } from '@kruise/values/random';
import type { ClusterView } from '../cluster/cluster.ts';
import { podInfoOf } from '../cluster/pod-info.ts';
import { defaultConfiguration, type ProfileConfiguration } from '../configuration.ts';
import { decide, type SchedulingState } from '../decide.ts';
import { messageOf } from '../diagnosis.ts';
import { prepareFilters } from '../filter.ts';
import { createProfile, type Profile } from '../profile.ts';
import { partsOf, type World } from './parts.ts';

export type Scenario = {
  readonly cluster: ClusterView;
  readonly world?: World;
  readonly profile?: Partial<ProfileConfiguration>;
} & Partial<Pick<SchedulingState, 'nominations' | 'start' | 'memory'>>;

export function profileIn({ world = {}, profile = {} }: Pick<Scenario, 'world' | 'profile'> = {}): Profile {
  return createProfile({ ...defaultConfiguration.profiles[0]!, ...profile }, partsOf(world));
}

/** Returns the node of a Pod, or the reason why it is unschedulable. */
export function scheduleResult(pod: Pod, scenario: Scenario): string {
  const { cluster, nominations = { onNode: () => [] }, start = 0, memory } = scenario;
  const state = { cluster, nominations, random: seededRandom(1), start, ...(memory ? { memory } : {}) };
  const { decision } = decide(profileIn(scenario), podInfoOf(pod), state);
  switch (decision.type) {
    case 'placed':
      return decision.node.name;
    case 'rejected':
      return messageOf(decision.diagnosis);
    case 'no nodes':
      return 'no nodes';
  }
}

/** Returns the nodes that pass all filters. */
export function feasibleFor(pod: Pod, scenario: Scenario): readonly string[] {
  const { filters } = prepareFilters(profileIn(scenario).filters, podInfoOf(pod), scenario.cluster);
  return scenario.cluster.nodes.filter((node) => !filters.check(node)).map(({ name }) => name);
}

/** Returns the unweighted score of a plugin for each node. */
export function scoresBy(
  plugin: string,
  pod: Pod,
  scenario: Scenario,
): { readonly [node: string]: number } | undefined {
  const { cluster } = scenario;
  const found = profileIn(scenario).scorers.find((scorer) => scorer.plugin.name === plugin)?.plugin;
  const scorer = found?.score?.(podInfoOf(pod), cluster, cluster.nodes);
  if (!scorer) return undefined;
  const scores = Float64Array.from(cluster.nodes, (node) => scorer.score(node));
  scorer.normalize?.(scores);
  return Object.fromEntries(cluster.nodes.map(({ name }, index) => [name, scores[index]!]));
}
