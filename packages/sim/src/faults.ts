/**
 * Fault injection: which faults occur in a simulation, when and for how long. Faults are drawn from a seed or taken
 * from a plan.
 */
import { pick, type Random, randomInteger } from '@kruise/values/random';
import type { NetworkConditions } from './network.ts';
import { permanentMs, type RejectionKind } from './rejections.ts';

/** A fault that lasts for a while. */
export type Fault = {
  readonly kind: FaultKind;
  /** The affected process, or the writes that are rejected. */
  readonly target: string;
  /** Start, relative to the start of the scenario. */
  readonly atMs: number;
  readonly lastsMs: number;
};

/** Network conditions of each network fault. */
const networkFaults = {
  'is cut off': { isPartitioned: true },
  'loses requests': { lostRequests: 200 },
  'loses answers': { lostAnswers: 200 },
  'is refused': { refused: 300 },
  'meets errors': { failed: 300 },
  'sees late': { watchLagMs: 5000 },
  'loses watches': { brokenWatches: 100 },
  'is slow': { latencyMs: [200, 2000] },
} as const satisfies { readonly [kind: string]: Partial<NetworkConditions> };

export type NetworkFaultKind = keyof typeof networkFaults;
/** Faults of processes and machines, which plans can contain; `rejections.ts` draws rejected writes. */
export type ProcessFaultKind = NetworkFaultKind | 'crashes' | 'has a wrong clock' | 'loses power';
export type FaultKind = ProcessFaultKind | RejectionKind;

/** Returns the network conditions of a fault, if it is a network fault. */
export function networkConditionsOf(kind: FaultKind): Partial<NetworkConditions> | undefined {
  return kind in networkFaults ? networkFaults[kind as NetworkFaultKind] : undefined;
}

/** Returns how far a wrong clock is ahead. */
export function clockErrorMs({ lastsMs }: Fault): number {
  return lastsMs % 2 === 0 ? lastsMs : -lastsMs;
}

export const faultKinds: readonly ProcessFaultKind[] = [
  ...(Object.keys(networkFaults) as NetworkFaultKind[]),
  'crashes',
  'has a wrong clock',
  'loses power',
];

/** Maximum number of faults, and maximum duration of each. */
const maxFaults = 10;
export const maxFaultMs = 60_000;

/** Draws the faults of a scenario of the given duration. */
export function drawFaults(random: Random, names: readonly string[], durationMs: number): readonly Fault[] {
  const count = randomInteger(random, maxFaults + 1);
  const faults = Array.from({ length: count }, (): Fault => {
    const target = pick(random, names);
    return {
      kind: pick(random, kindsFor(target)),
      target,
      atMs: randomInteger(random, durationMs),
      lastsMs: 1 + randomInteger(random, maxFaultMs),
    };
  });
  return faults.sort((a, b) => a.atMs - b.atMs);
}

function kindsFor(target: string): readonly ProcessFaultKind[] {
  if (target === 'apiserver') return ['crashes'];
  return faultKinds.filter((kind) => kind !== 'loses power' || target.startsWith('node-'));
}

/** Describes a fault in one line. */
export function describeFault({ kind, target, atMs, lastsMs }: Fault): string {
  const duration = lastsMs >= permanentMs ? 'good' : `${(lastsMs / 1000).toFixed(1)} s`;
  return `at ${(atMs / 1000).toFixed(1)} s ${target} ${kind} for ${duration}`;
}
