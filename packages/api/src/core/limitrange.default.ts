import type { Draft } from '@kruise/schema/draft';
import type { LimitRange, LimitRangeItem } from './limitrange.ts';
import { defaultResourceList } from './resources.default.ts';

export function defaultLimitRange({ spec }: Draft<LimitRange>): void {
  for (const limit of spec?.limits ?? []) {
    if (limit.type === 'Container') fillIn(limit);
    for (const field of ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const) {
      defaultResourceList(limit[field]);
    }
  }
}

/** A container that says nothing is limited to the most it may have, and asks for its limit, or the least. */
function fillIn(limit: Draft<LimitRangeItem>): void {
  limit.default = { ...limit.max, ...limit.default };
  limit.defaultRequest = { ...limit.min, ...limit.default, ...limit.defaultRequest };
}
