import { isNotFound } from '@kruise/machinery/status';
import type { Core } from '../core.ts';
import { groupPriority, versionPriority } from '../discovery/priority.ts';
import type { KubeObject } from '../object.ts';
import { createWriter, type Writer } from './writer.ts';

export type GroupVersion = { readonly group: string; readonly version: string };

const managed = 'kube-aggregator.kubernetes.io/automanaged';

/** Creates the local APIService of a group version. `life` selects automatic removal for custom resources. */
export function apiService({ group, version }: GroupVersion, autoRegistration: 'onstart' | 'true'): KubeObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${version}.${group}`, labels: { [managed]: autoRegistration } },
    spec: {
      ...(group === '' ? {} : { group }),
      version,
      groupPriorityMinimum: groupPriority(group),
      versionPriority: versionPriority(group, version),
    },
  };
}

/** Maintains an APIService for each group version of custom resources. */
export interface CustomApiServices {
  /**
   * Creates the missing APIService of a group version, or removes it if no resource is served in the group version any
   * more.
   */
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
      // An APIService that another client created is not removed.
      if (!isServed && existing?.metadata.labels?.[managed] === 'true') {
        await writer.remove(wanted).catch((error) => {
          if (!isNotFound(error)) throw error;
        });
      }
    },
  };
}
