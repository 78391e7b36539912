import { createHash } from 'node:crypto';
import { builtinKinds } from '@kruise/api/builtin';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import {
  aggregatedDiscovery,
  apiGroup,
  apiGroupList,
  apiVersions,
  type DiscoveredGroup,
  type DiscoveredResource,
  discovered,
  discoveredCustom,
  groupsOf,
  resourceList,
} from '../discovery/discovery.ts';
import { noSuchPath, PlainRefusal } from '../handlers/refusal.ts';
import type { Exchange, Headers } from './exchange.ts';
import { parseAccept } from './negotiation.ts';
import { createOpenApiPages } from './openapi-pages.ts';

/** What a server serves besides resources. */
export interface Pages {
  serve(exchange: Exchange, context: RequestContext, headers: Headers): Promise<void>;
}

/** The version of Kubernetes whose API this is. */
export const serverVersion = {
  major: '1',
  minor: '33',
  emulationMajor: '1',
  emulationMinor: '33',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '32',
  gitVersion: 'v1.33.4+kruise',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export function createPages(core: Core, address: () => string): Pages {
  const openApi = createOpenApiPages(core);
  let known: { readonly generation: number; readonly groups: readonly DiscoveredGroup[] } | undefined;

  function groups(): readonly DiscoveredGroup[] {
    const { generation } = core.resources;
    if (known?.generation !== generation) known = { generation, groups: groupsOf(everything()) };
    return known.groups;
  }

  function* everything(): Generator<DiscoveredResource> {
    for (const kind of builtinKinds) yield discovered(kind);
    for (const resource of core.resources.all()) {
      if (resource.custom) yield discoveredCustom(core.resources, resource);
    }
  }

  async function sendJson(exchange: Exchange, headers: Headers, value: unknown): Promise<void> {
    await exchange.send(200, { 'content-type': 'application/json', ...headers }, `${JSON.stringify(value)}\n`);
  }

  async function sendAggregated(exchange: Exchange, headers: Headers, isCore: boolean): Promise<void> {
    const text = `${JSON.stringify(aggregatedDiscovery(groups(), isCore))}\n`;
    const etag = `"${createHash('sha512').update(text).digest('hex').toUpperCase()}"`;
    const all = { ...headers, 'content-type': aggregatedType, etag, vary: 'Accept', 'cache-control': 'public' };
    if (exchange.headers['if-none-match'] === etag) await exchange.send(304, all, '');
    else await exchange.send(200, all, text);
  }

  function wantsAggregated(exchange: Exchange): boolean {
    for (const { type, parameters } of parseAccept(exchange.headers.accept ?? '')) {
      if (parameters.get('g') === 'apidiscovery.k8s.io') {
        if (type === 'application/json' && parameters.get('v') === 'v2') return true;
      } else if (type === 'application/json' || type === '*/*') return false;
    }
    return false;
  }

  return {
    async serve(exchange, _context, headers) {
      const segments = exchange.path.split('/').filter((segment) => segment !== '');
      if (segments[0] === 'openapi') return openApi.serve(exchange, segments.slice(1), headers);
      const [first, second, third, ...more] = segments;
      if (more.length > 0) throw noSuchPath();
      switch (first) {
        case 'version':
          return sendJson(exchange, headers, serverVersion);
        case 'healthz':
        case 'livez':
        case 'readyz':
          return exchange.send(200, { ...headers, 'content-type': 'text/plain; charset=utf-8' }, 'ok');
        case 'api': {
          if (second === undefined) {
            if (wantsAggregated(exchange)) return sendAggregated(exchange, headers, true);
            return sendJson(exchange, headers, apiVersions(address()));
          }
          const version = groups()
            .find(({ group }) => group === '')
            ?.versions.find((each) => each.version === second);
          if (!version) throw noSuchPath();
          return sendJson(exchange, headers, resourceList('', version));
        }
        case 'apis': {
          if (second === undefined) {
            if (wantsAggregated(exchange)) return sendAggregated(exchange, headers, false);
            return sendJson(exchange, headers, apiGroupList(groups()));
          }
          const group = groups().find((each) => each.group === second && second !== '');
          if (!group) throw noSuchPath();
          if (third === undefined) return sendJson(exchange, headers, apiGroup(group, true));
          const version = group.versions.find((each) => each.version === third);
          if (!version) throw noSuchPath();
          return sendJson(exchange, headers, resourceList(second, version));
        }
        default:
          throw first === undefined ? new PlainRefusal(404, '404 page not found') : noSuchPath();
      }
    },
  };
}
