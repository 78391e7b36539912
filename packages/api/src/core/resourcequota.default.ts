import type { Draft } from '@kruise/schema/draft';
import type { ResourceQuota } from './resourcequota.ts';
import { defaultResourceList } from './resources.default.ts';

export function defaultResourceQuota({ spec, status }: Draft<ResourceQuota>): void {
  defaultResourceList(spec?.hard);
  defaultResourceList(status?.hard);
  defaultResourceList(status?.used);
}
