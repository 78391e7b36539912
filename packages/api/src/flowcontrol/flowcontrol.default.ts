import type { Draft } from '@kruise/schema/draft';
import type { FlowSchema } from './flowschema.ts';
import type { PriorityLevelConfiguration } from './prioritylevelconfiguration.ts';

export function defaultFlowSchema({ spec }: Draft<FlowSchema>): void {
  if (spec) spec.matchingPrecedence ||= 1000;
}

export function defaultPriorityLevelConfiguration({ spec }: Draft<PriorityLevelConfiguration>): void {
  const { exempt, limited } = spec ?? {};
  if (exempt) {
    exempt.nominalConcurrencyShares ??= 0;
    exempt.lendablePercent ??= 0;
  }
  if (!limited) return;
  limited.nominalConcurrencyShares ??= 30;
  limited.lendablePercent ??= 0;
  const queuing = limited.limitResponse?.queuing;
  if (!queuing) return;
  queuing.handSize ||= 8;
  queuing.queues ||= 64;
  queuing.queueLengthLimit ||= 50;
}
