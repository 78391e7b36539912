import type { Aggregated } from './aggregated.ts';
import type { RemoteRequest } from './remote-request.ts';

/** Discovery and OpenAPI documents of an aggregated server, as of the last successful request. */
export type RemoteDocuments = {
  /** Resources, in the form of aggregated discovery. */
  readonly resources: readonly unknown[];
  /** Hash of the OpenAPI v3 document, if the server has one. */
  readonly openApiV3Hash: string | undefined;
  /** OpenAPI v2 document, limited to the server's own paths. */
  readonly openApiV2: OpenApiV2 | undefined;
};

export type OpenApiV2 = {
  readonly paths: { readonly [path: string]: unknown };
  readonly definitions: { readonly [name: string]: unknown };
};

/** Fetches all documents. Discovery is required; OpenAPI is optional. */
export async function readRemote(requestRemote: RemoteRequest, aggregated: Aggregated): Promise<RemoteDocuments> {
  const root = `/apis/${aggregated.group}/${aggregated.version}`;
  const list = await read(requestRemote, aggregated, root);
  const index = await read(requestRemote, aggregated, '/openapi/v3').catch(() => undefined);
  const v2 = await read(requestRemote, aggregated, '/openapi/v2').catch(() => undefined);
  const entry = (index as { paths?: { [path: string]: { serverRelativeURL?: string } } })?.paths?.[root.slice(1)];
  return {
    resources: aggregatedEntries(list as ResourceList, aggregated),
    openApiV3Hash: entry && (/[?&]hash=([0-9A-F]+)/.exec(entry.serverRelativeURL ?? '')?.[1] ?? ''),
    openApiV2: v2 === undefined ? undefined : ownPart(v2 as Partial<OpenApiV2>, root),
  };
}

async function read(requestRemote: RemoteRequest, aggregated: Aggregated, path: string): Promise<unknown> {
  const { code, text, url } = await requestRemote(aggregated, path);
  if (code !== 200) throw new Error(`bad status from ${url}${path}: ${code}`);
  return JSON.parse(text);
}

function ownPart({ paths = {}, definitions = {} }: Partial<OpenApiV2>, root: string): OpenApiV2 {
  const own = Object.entries(paths).filter(([path]) => path.startsWith(`${root}/`));
  return { paths: Object.fromEntries(own), definitions };
}

type ListedResource = {
  readonly name: string;
  readonly singularName?: string;
  readonly namespaced?: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
};
type ResourceList = { readonly resources?: readonly ListedResource[] };

/** Converts a resource list to the form of aggregated discovery. */
export function aggregatedEntries(
  { resources = [] }: ResourceList,
  { group, version }: Pick<Aggregated, 'group' | 'version'>,
): readonly unknown[] {
  const kindOf = (each: ListedResource) => ({
    group: each.group || group,
    version: each.version || version,
    kind: each.kind,
  });
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map((each) => {
      const below = resources.filter(({ name }) => name.startsWith(`${each.name}/`));
      const subresources = below.map((sub) => ({
        subresource: sub.name.slice(each.name.length + 1),
        responseKind: kindOf(sub),
        verbs: sub.verbs,
      }));
      return {
        resource: each.name,
        responseKind: kindOf(each),
        scope: each.namespaced ? 'Namespaced' : 'Cluster',
        singularResource: each.singularName ?? '',
        verbs: each.verbs,
        ...(each.shortNames?.length ? { shortNames: each.shortNames } : {}),
        ...(each.categories?.length ? { categories: each.categories } : {}),
        ...(subresources.length > 0 ? { subresources } : {}),
      };
    });
}
