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

/** The default limit of a container is the maximum. Its default request is the limit, or else the minimum. */
function fillIn(limit: Draft<LimitRangeItem>): void {
  limit.default = { ...limit.max, ...limit.default };
  limit.defaultRequest = { ...limit.min, ...limit.default, ...limit.defaultRequest };
}
