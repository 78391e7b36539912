import {
  type UnitedDeployment,
  type UnitedDeploymentV1alpha1,
  unitedDeployment,
  unitedDeploymentV1alpha1,
} from '@kruise/api/kruise/uniteddeployment';
import { conversionOf } from './conversion.ts';

type Status = NonNullable<UnitedDeployment['status']>;
type OlderStatus = NonNullable<UnitedDeploymentV1alpha1['status']>;
type SubsetStatus = NonNullable<Status['subsetStatuses']>[number];

/** v1beta1 reports by domain what v1alpha1 reports in maps of its own. */
export const unitedDeploymentConversion = conversionOf(unitedDeploymentV1alpha1, unitedDeployment, {
  toStored: ({ status, ...object }) => ({ ...object, ...(status ? { status: storedStatus(status) } : {}) }),
  toOlder: ({ status, ...object }) => ({ ...object, ...(status ? { status: olderStatus(status) } : {}) }),
});

function storedStatus({ subsetReplicas = {}, updateStatus, subsetStatuses = [], ...status }: OlderStatus): Status {
  const { updatedRevision, currentPartitions = {} } = updateStatus ?? {};
  const byName = new Map<string, SubsetStatus>(subsetStatuses.map((each) => [each.name ?? '', each]));
  const merge = (name: string, part: Partial<SubsetStatus>) =>
    byName.set(name, { ...(byName.get(name) ?? { name }), ...part });
  for (const [name, replicas] of Object.entries(subsetReplicas)) merge(name, { replicas });
  for (const [name, partition] of Object.entries(currentPartitions)) merge(name, { partition });
  return {
    ...status,
    ...(byName.size > 0 ? { subsetStatuses: [...byName.values()] } : {}),
    ...(updatedRevision ? { updatedRevision } : {}),
  };
}

function olderStatus({ updatedRevision, subsetStatuses = [], ...status }: Status): OlderStatus {
  const mapOf = (field: 'replicas' | 'partition') =>
    Object.fromEntries(subsetStatuses.map((each) => [each.name ?? '', each[field] ?? 0]));
  const isUpdateKnown = updatedRevision || subsetStatuses.length > 0;
  return {
    ...status,
    ...(subsetStatuses.length > 0 ? { subsetStatuses, subsetReplicas: mapOf('replicas') } : {}),
    ...(isUpdateKnown
      ? { updateStatus: { updatedRevision: updatedRevision ?? '', currentPartitions: mapOf('partition') } }
      : {}),
  };
}
