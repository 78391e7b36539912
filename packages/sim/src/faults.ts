/** What goes wrong in a world, when, and for how long: drawn from a seed, or taken from a plan. */
import { pick, type Random, randomInteger } from '@kruise/values/random';
import type { Weather } from './network.ts';
import { forGoodMs, type RefusalKind } from './refusals.ts';

/** Something that goes wrong for a while. */
export type Fault = {
  readonly kind: FaultKind;
  /** The process with the fault, or the writes that are refused. */
  readonly target: string;
  /** From the beginning of the scenario. */
  readonly atMs: number;
  readonly lastsMs: number;
};

/** What each fault of the network makes of it. */
const weathers = {
  'is cut off': { isCut: true },
  'loses requests': { lostRequests: 200 },
  'loses answers': { lostAnswers: 200 },
  'is refused': { refused: 300 },
  'meets errors': { failed: 300 },
  'sees late': { watchLagMs: 5000 },
  'loses watches': { brokenWatches: 100 },
  'is slow': { latencyMs: [200, 2000] },
} as const satisfies { readonly [kind: string]: Partial<Weather> };

export type WeatherFault = keyof typeof weathers;
/** The faults of processes and machines, which can be planned; refusals are drawn by `refusals.ts`. */
export type ProcessFaultKind = WeatherFault | 'crashes' | 'has a wrong clock' | 'loses power';
export type FaultKind = ProcessFaultKind | RefusalKind;

/** What a fault makes of the network, if it is one of it. */
export function weatherOf(kind: FaultKind): Partial<Weather> | undefined {
  return kind in weathers ? weathers[kind as WeatherFault] : undefined;
}

/** How far a clock that is wrong is ahead. */
export function clockErrorMs({ lastsMs }: Fault): number {
  return lastsMs % 2 === 0 ? lastsMs : -lastsMs;
}

export const faultKinds: readonly ProcessFaultKind[] = [
  ...(Object.keys(weathers) as WeatherFault[]),
  'crashes',
  'has a wrong clock',
  'loses power',
];

/** How many faults there are at most, and how long each lasts at most. */
const mostFaults = 10;
export const longestFaultMs = 60_000;

/** Draws the faults of a scenario that lasts so long. */
export function drawFaults(random: Random, names: readonly string[], durationMs: number): readonly Fault[] {
  const count = randomInteger(random, mostFaults + 1);
  const faults = Array.from({ length: count }, (): Fault => {
    const target = pick(random, names);
    return {
      kind: pick(random, kindsFor(target)),
      target,
      atMs: randomInteger(random, durationMs),
      lastsMs: 1 + randomInteger(random, longestFaultMs),
    };
  });
  return faults.sort((a, b) => a.atMs - b.atMs);
}

function kindsFor(target: string): readonly ProcessFaultKind[] {
  if (target === 'apiserver') return ['crashes'];
  return faultKinds.filter((kind) => kind !== 'loses power' || target.startsWith('node-'));
}

/** A fault as a person would tell of it. */
export function told({ kind, target, atMs, lastsMs }: Fault): string {
  const duration = lastsMs >= forGoodMs ? 'good' : `${(lastsMs / 1000).toFixed(1)} s`;
  return `at ${(atMs / 1000).toFixed(1)} s ${target} ${kind} for ${duration}`;
}
