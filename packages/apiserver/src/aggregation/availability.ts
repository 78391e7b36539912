import { service as serviceKind } from '@kruise/api/core/service';
import type { Lookup } from '../admission/lookup.ts';
import type { Aggregated } from './aggregated.ts';
import type { InProcessServers } from './in-process-servers.ts';
import type { RemoteRequest } from './remote-request.ts';

/** Availability of the server behind an APIService, with the reason. */
export type Availability = { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string };

const no = (reason: string, message: string): Availability => ({ status: 'False', reason, message });

const available: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };

/**
 * Checks the Service, its endpoints, and the response of the server. In-process servers have neither Service nor
 * endpoints.
 */
export async function checkAvailability(
  lookup: Lookup,
  servers: InProcessServers,
  requestRemote: RemoteRequest,
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
  const answer = await requestRemote(aggregated, path).catch((error: Error) => error);
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
