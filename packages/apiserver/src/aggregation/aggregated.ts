import { type APIService, apiService as apiServiceKind } from '@kruise/api/apiregistration/apiservice';
import { derived, type Lookup } from '../admission/lookup.ts';

/** Group version that an aggregated API server serves. */
export type Aggregated = {
  /** Name of the APIService. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** CA bundle as PEM; without a bundle the system CAs are trusted. */
  readonly authority: string | undefined;
  readonly insecure: boolean;
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly isAvailable: boolean;
};

/** Returns the aggregated group versions of APIServices with a Service reference, by `group/version`. */
export function aggregatedVersions(lookup: Lookup): () => ReadonlyMap<string, Aggregated> {
  return derived(lookup.of(apiServiceKind), (all) => {
    const found = new Map<string, Aggregated>();
    for (const each of all) {
      const aggregated = aggregatedOf(each);
      if (aggregated) found.set(`${aggregated.group}/${aggregated.version}`, aggregated);
    }
    return found;
  });
}

function aggregatedOf({ metadata, spec, status }: APIService): Aggregated | undefined {
  if (!spec?.service) return undefined;
  const { group = '', version = '', service, caBundle, insecureSkipTLSVerify = false } = spec;
  return {
    name: metadata.name ?? '',
    group,
    version,
    service: { namespace: service.namespace ?? '', name: service.name ?? '', port: service.port ?? 443 },
    authority: caBundle ? Buffer.from(caBundle, 'base64').toString() : undefined,
    insecure: insecureSkipTLSVerify,
    groupPriority: spec.groupPriorityMinimum,
    versionPriority: spec.versionPriority,
    isAvailable: status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True') ?? false,
  };
}
