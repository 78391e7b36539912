import { service as serviceKind } from '@kruise/api/core/service';
import type { Lookup } from '../admission/lookup.ts';
import type { Aggregated } from './aggregated.ts';
import type { Ask } from './ask.ts';
import type { InProcessServers } from './in-process-servers.ts';

/** Whether the server behind an APIService can be relied upon, and why not. */
export type Availability = { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string };

const no = (reason: string, message: string): Availability => ({ status: 'False', reason, message });

const available: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };

/** Looks for the Service, for Pods behind it, and for an answer from them. What is in this process needs neither. */
export async function checkAvailability(
  lookup: Lookup,
  servers: InProcessServers,
  ask: Ask,
  aggregated: Aggregated,
): Promise<Availability> {
  const { namespace, name, port } = aggregated.service;
  const where = `service/${name} in ${JSON.stringify(namespace)}`;
  if (servers.get(`${namespace}/${name}`)) return available;
  const service = lookup.of(serviceKind).get(name, namespace);
  if (!service) return no('ServiceNotFound', `${where} is not present`);
  if (service.spec?.type !== 'ExternalName' && !service.spec?.ports?.some((each) => each.port === port)) {
    return no('ServicePortError', `${where} is not listening on port ${port}`);
  }
  const path = `/apis/${aggregated.group}/${aggregated.version}`;
  const answer = await ask(aggregated, path).catch((error: Error) => error);
  if (answer instanceof Error) {
    if (/no endpoints/.test(answer.message)) return no('MissingEndpoints', `endpoints for ${where} have no addresses`);
    return no('FailedDiscoveryCheck', `failing or missing response from ${path}: ${answer.message}`);
  }
  if (answer.code < 200 || answer.code > 299) {
    const bad = `bad status from ${answer.url}${path}: ${answer.code}`;
    return no('FailedDiscoveryCheck', `failing or missing response from ${answer.url}${path}: ${bad}`);
  }
  return available;
}
