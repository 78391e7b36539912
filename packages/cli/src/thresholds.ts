import { isSignal, type Signal, type Threshold } from '@kruise/node/kubelet/eviction/eviction';
import { parseDuration } from '@kruise/values/duration';
import { parseQuantity } from '@kruise/values/quantity';

/** Parses eviction thresholds in flag syntax: `memory.available<100Mi,nodefs.available<10%`. */
export function parseThresholds(text: string): Threshold[] {
  return partsOf(text).map((part) => {
    const [, signal = '', value = ''] = /^([\w.]+)<(\S+)$/.exec(part) ?? [];
    if (!isSignal(signal) || !isAmount(value)) throw new Error(`invalid eviction threshold: ${part}`);
    return { signal, value };
  });
}

/** Parses soft eviction thresholds and their grace periods: `memory.available=1m30s`. */
export function parseSoftThresholds(
  thresholds: string,
  periods: string,
): (Threshold & { readonly patienceSeconds: number })[] {
  const patience = new Map<Signal, number>();
  for (const part of partsOf(periods)) {
    const [signal = '', duration = ''] = part.split('=');
    if (!isSignal(signal)) throw new Error(`invalid eviction grace period: ${part}`);
    patience.set(signal, Number(parseDuration(duration)) / 1e9);
  }
  return parseThresholds(thresholds).map((threshold) => {
    const patienceSeconds = patience.get(threshold.signal);
    if (patienceSeconds === undefined) {
      throw new Error(`grace period must be specified for the soft eviction threshold ${threshold.signal}`);
    }
    return { ...threshold, patienceSeconds };
  });
}

function partsOf(text: string): string[] {
  return text.split(',').filter((each) => each !== '');
}

function isAmount(text: string): boolean {
  if (/^\d+(\.\d+)?%$/.test(text)) return true;
  try {
    parseQuantity(text);
    return true;
  } catch {
    // The value is neither a percentage nor a quantity; the caller reports the error.
    return false;
  }
}
