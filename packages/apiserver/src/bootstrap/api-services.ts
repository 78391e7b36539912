import { isNotFound } from '@kruise/machinery/status';
import type { Core } from '../core.ts';
import { groupPriority, versionPriority } from '../discovery/priority.ts';
import type { KubeObject } from '../object.ts';
import { createWriter, type Writer } from './writer.ts';

export type GroupVersion = { readonly group: string; readonly version: string };

const managed = 'kube-aggregator.kubernetes.io/automanaged';

/** Says that a group version is served by this server itself. Those of custom resources go with them. */
export function apiService({ group, version }: GroupVersion, life: 'onstart' | 'true'): KubeObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${version}.${group}`, labels: { [managed]: life } },
    spec: {
      ...(group === '' ? {} : { group }),
      version,
      groupPriorityMinimum: groupPriority(group),
      versionPriority: versionPriority(group, version),
    },
  };
}

/** Keeps an APIService for each group version that custom resources are served in. */
export interface CustomApiServices {
  /** Makes those that are missing of a group version, and removes one that nothing is served in any more. */
  sync(groupVersion: GroupVersion): Promise<void>;
}

export function createCustomApiServices(core: Core): CustomApiServices {
  const writer: Writer = createWriter(core, 'kube-apiserver');
  return {
    async sync(groupVersion) {
      const wanted = apiService(groupVersion, 'true');
      const existing = writer.current(wanted);
      const isServed = [...core.resources.all()].some(
        ({ custom, kind }) => custom && kind.group === groupVersion.group && kind.version === groupVersion.version,
      );
      if (isServed && !existing) await writer.create(wanted);
      // One that someone else made is theirs to remove.
      if (!isServed && existing?.metadata.labels?.[managed] === 'true') {
        await writer.remove(wanted).catch((error) => {
          if (!isNotFound(error)) throw error;
        });
      }
    },
  };
}
