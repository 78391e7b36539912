import type { Taint } from '@kruise/api/core/node';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

/** Parses taints in flag syntax: `key=value:effect,other:effect`. */
export function parseTaints(text: string): Taint[] {
  return text
    .split(',')
    .filter((each) => each !== '')
    .map((each) => {
      const [, key, value, effect] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(each) ?? [];
      const known = effects.find((name) => name === effect);
      if (key === undefined || !known) throw new Error(`invalid taint spec: ${each}`);
      return { key, ...(value ? { value } : {}), effect: known };
    });
}
