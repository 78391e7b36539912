import { posix } from 'node:path';
import { isUpgrade } from '@kruise/client/streaming/upgrade';
import { serviceUnavailable } from '@kruise/machinery/status';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import { admitConnect } from '../handlers/admit.ts';
import type { Headers, HttpRequest } from '../http/http-request.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { escapePath } from '../url-path.ts';
import { copyTo } from './copy.ts';
import { endToEnd, forwardedHeaders, forwardUpgrade, upgradeHeaders } from './forward.ts';
import { rewriteLinks } from './links.ts';
import type { NodeConnector } from './node-connector.ts';
import { type ProxiedAt, rewriteUrl } from './redirect.ts';
import { proxyTarget } from './target.ts';

/** Serves the proxy subresources of Pods, Services and nodes. */
export async function proxy(
  core: Core,
  connector: NodeConnector,
  resource: Resource,
  context: RequestContext,
  httpRequest: HttpRequest,
  headers: Headers,
): Promise<void> {
  const { info } = context;
  const kind = `${resource.kind.kind}ProxyOptions`;
  const path = pathOf(info.rest, info.path.endsWith('/'));
  // Options are not objects: they have no metadata, and no plugin reads any.
  const options = { kind, apiVersion: 'v1', ...(path === '' ? {} : { path }) } as unknown as KubeObject;
  await admitConnect(core, context, resource, { group: '', version: 'v1', kind }, options);
  const backend = await proxyTarget(core, connector, context);
  const escaped = escapePath(path);
  const query = httpRequest.rawQuery === '' ? '' : `?${httpRequest.rawQuery}`;
  if (httpRequest.upgrade && isUpgrade(httpRequest.headers)) {
    const headers = upgradeHeaders(httpRequest);
    const request = { method: httpRequest.method, path: `${escaped || '/'}${query}`, headers };
    return forwardUpgrade(httpRequest, backend, request);
  }
  if (path === '' && (httpRequest.method === 'GET' || httpRequest.method === 'HEAD')) {
    await httpRequest.send(301, { ...headers, location: `${escapePath(info.path)}/${query}` }, '');
    return;
  }

  const forwarded = forwardedHeaders(httpRequest);
  const prefix = escapePath(prefixOf(info.path, info.rest.length));
  const at: ProxiedAt = { backendHost: new URL(backend.url).host, requestHost: forwarded.host as string, prefix };
  const { signal } = httpRequest;
  const answer = await backend
    .send({
      method: httpRequest.method,
      path: `${escaped || '/'}${query}`,
      headers: { ...forwarded, 'x-forwarded-uri': `${prefix}${escaped}` },
      ...(httpRequest.content ? { body: httpRequest.content } : {}),
      signal,
    })
    .catch((error: Error) => {
      throw serviceUnavailable(`error trying to reach service: ${error.message}`);
    });

  const { location, 'content-type': type = '' } = answer.headers;
  const isPage = !location && type.split(';')[0]!.trim() === 'text/html' && httpRequest.method !== 'HEAD';
  const { body, headers: given } = isPage ? rewriteLinks(answer, (url) => rewriteUrl(url, at)) : answer;
  const moved: Headers = location ? { location: rewriteUrl(location, at) } : {};
  const all: Headers = { ...headers, ...endToEnd<string | string[]>(given), ...moved };
  return copyTo(httpRequest.begin(answer.code, all), body, signal);
}

/** Returns the normalized path after `/proxy`. */
function pathOf(rest: readonly string[], slash: boolean): string {
  const path = rest.length === 0 ? '' : posix.normalize(`/${rest.join('/')}`);
  return slash && !path.endsWith('/') ? `${path}/` : path;
}

/** Returns the part of a path before the backend's path. */
function prefixOf(path: string, theirs: number): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  return `/${segments.slice(0, segments.length - theirs).join('/')}`;
}
