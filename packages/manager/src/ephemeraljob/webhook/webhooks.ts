import { ephemeralContainer } from '@kruise/api/core/container';
import { validateAddedContainers } from '@kruise/api/core/container.validate';
import type { EphemeralJob } from '@kruise/api/kruise/ephemeraljob';
import type { Webhook } from '@kruise/client/webhook';
import { codecOf } from '@kruise/schema/codec';
import { handler, refuse, refuseFaults } from '../../webhooks/context.ts';

const containers = codecOf(ephemeralContainer);

/** Validation of EphemeralJobs: only their containers are validated. */
export function ephemeralJobValidating(): Webhook {
  return handler<EphemeralJob>(({ object }) => {
    const given: unknown = object?.spec.template.ephemeralContainers ?? [];
    if (!Array.isArray(given)) return refuse(400, 'spec.template.ephemeralContainers is not a list');
    const read = given.map((container) => containers.fromJson(container));
    return refuseFaults(validateAddedContainers(read, 'ephemeralContainers'), 400);
  });
}
