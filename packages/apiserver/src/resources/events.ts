import type { Event as CoreEvent } from '@kruise/api/core/event';
import { validateStrictEvent, validateStrictEventUpdate } from '@kruise/api/core/event.validate';
import type { Event } from '@kruise/api/events/event';
import { toCoreEvent } from '@kruise/api/events/event.conversion';
import { type RulesByResource, rulesFor } from './rules.ts';

/** Rules that both groups of events share, because they serve the same objects. */
export const eventRules = { createOnUpdate: true, propagation: 'Unsupported', ttlSeconds: 3600 } as const;

export const eventsRules: RulesByResource = {
  'events.events.k8s.io': rulesFor<Event>({
    ...eventRules,
    validate: (event) => validateStrictEvent(toCoreEvent(event) as CoreEvent),
    validateUpdate: (event, old) => validateStrictEventUpdate(toCoreEvent(event), toCoreEvent(old)),
  }),
};
