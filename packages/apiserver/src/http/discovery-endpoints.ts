import { createHash } from 'node:crypto';
import { apiGroupDiscoveryList } from '@kruise/api/apidiscovery/apigroupdiscovery';
import * as meta from '@kruise/api/meta/discovery';
import type { ObjectNode } from '@kruise/schema';
import type { Aggregation } from '../aggregation/aggregation.ts';
import type { Core } from '../core.ts';
import {
  aggregatedDiscovery,
  apiGroup,
  apiGroupList,
  apiVersions,
  type DiscoveredGroup,
  groupsOf,
  localResources,
  reachable,
  resourceList,
} from '../discovery/discovery.ts';
import { unknownPath, unknownResource, unsupportedMethod } from '../handlers/http-errors.ts';
import { isBuiltinGroup } from '../pipeline/routing.ts';
import { encodeObject } from './encoding.ts';
import type { Headers, HttpRequest } from './http-request.ts';
import { builtinOffer, checkForm, mediaTypes, negotiate, type Offer, parseAccept, wantsPretty } from './negotiation.ts';
import type { EndpointTree } from './non-resource-endpoints.ts';

const plain: Offer = { ...builtinOffer, views: ['object'] };
const aggregatedParameters = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/**
 * Serves discovery, per group or aggregated. Documents are built on the first request, and again after resources
 * change.
 */
export function createDiscoveryEndpoints(core: Core, aggregation: Aggregation, address: () => string): EndpointTree {
  let known: { readonly generation: string; readonly groups: readonly DiscoveredGroup[] } | undefined;
  let documents = new Map<string, { readonly etag: string; readonly encoded: Buffer }>();

  function groups(): readonly DiscoveredGroup[] {
    const versions = aggregation.versions();
    const available = versions.map(({ isAvailable }) => isAvailable);
    const generation = `${core.resources.generation} ${aggregation.generation} ${available}`;
    if (known?.generation !== generation) {
      known = { generation, groups: groupsOf(localResources(core.resources), versions) };
      documents = new Map();
    }
    return known.groups;
  }

  async function send(httpRequest: HttpRequest, headers: Headers, value: unknown, schema: ObjectNode): Promise<void> {
    const pretty = wantsPretty(httpRequest.query, httpRequest.headers['user-agent'] ?? '');
    checkForm(httpRequest.headers.accept, Object.values(mediaTypes));
    const media = negotiate(httpRequest.headers.accept ?? '', plain, pretty);
    const encoded = encodeObject(media, value, schema);
    const body = typeof encoded === 'string' ? encoded : Buffer.from(encoded as Uint8Array);
    await httpRequest.send(200, { ...headers, 'content-type': mediaTypes[media.format] }, body);
  }

  async function sendAggregated(
    httpRequest: HttpRequest,
    headers: Headers,
    isCore: boolean,
    type: string,
  ): Promise<void> {
    const all = groups();
    const id = `${isCore} ${type}`;
    let document = documents.get(id);
    if (!document) {
      const format = type === mediaTypes.protobuf ? 'protobuf' : type === mediaTypes.yaml ? 'yaml' : 'json';
      const media = { format, view: 'object', viewVersion: 'v1', pretty: false } as const;
      const value = aggregatedDiscovery(all, isCore);
      const etag = `"${createHash('sha512').update(JSON.stringify(value)).digest('hex').toUpperCase()}"`;
      document = { etag, encoded: Buffer.from(encodeObject(media, value, apiGroupDiscoveryList) as string) };
      documents.set(id, document);
    }
    const { etag, encoded } = document;
    const described = {
      ...headers,
      'content-type': `${type};${aggregatedParameters}`,
      etag,
      vary: 'Accept',
      'cache-control': 'public',
    };
    if (httpRequest.headers['if-none-match'] === etag) await httpRequest.send(304, described, '');
    else await httpRequest.send(200, described, encoded);
  }

  return {
    paths: () =>
      groups().flatMap(({ group, versions }) =>
        group === ''
          ? ['/api', ...versions.map(({ version }) => `/api/${version}`)]
          : [`/apis/${group}`, ...versions.map(({ version }) => `/apis/${group}/${version}`)],
      ),

    async serve(httpRequest, { info }, headers) {
      const [first, ...rest] = info.path.split('/').filter((segment) => segment !== '');
      if (httpRequest.method !== 'GET') throw unsupportedMethod(['GET']);
      const isCore = first === 'api';
      if (rest.length === 0) {
        const type = aggregatedType(httpRequest.headers.accept ?? '');
        if (type) return sendAggregated(httpRequest, headers, isCore, type);
        if (isCore) return send(httpRequest, headers, apiVersions(address()), meta.apiVersions);
        return send(httpRequest, headers, apiGroupList(groups()), meta.apiGroupList);
      }
      const [name, versionName, ...more] = isCore ? ['', ...rest] : rest;
      const group = groups().find((each) => each.group === name);
      const missing = isBuiltinGroup(name!) ? unknownResource() : unknownPath();
      if (!group || more.length > 0) throw missing;
      if (versionName === undefined) return send(httpRequest, headers, apiGroup(reachable(group), true), meta.apiGroup);
      const version = group.versions.find((each) => each.version === versionName);
      if (!version) throw missing;
      return send(httpRequest, headers, resourceList(group.group, version), meta.apiResourceList);
    },
  };
}

/** Returns the accepted media type of aggregated discovery, if any. */
function aggregatedType(accept: string): string | undefined {
  for (const { type, parameters } of parseAccept(accept)) {
    const known = Object.values(mediaTypes).includes(type);
    if (!parameters.has('as')) {
      if (known || type === '*/*' || type === 'application/*') return undefined;
      continue;
    }
    const isAggregated =
      parameters.get('g') === 'apidiscovery.k8s.io' &&
      parameters.get('v') === 'v2' &&
      parameters.get('as') === 'APIGroupDiscoveryList';
    if (known && isAggregated) return type;
  }
  return undefined;
}
