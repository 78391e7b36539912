import {
  type UnitedDeployment,
  type UnitedDeploymentV1alpha1,
  unitedDeployment,
  unitedDeploymentV1alpha1,
} from '@kruise/api/kruise/uniteddeployment';
import { conversionOf } from '../conversion/conversion.ts';

type Status = NonNullable<UnitedDeployment['status']>;
type OlderStatus = NonNullable<UnitedDeploymentV1alpha1['status']>;
type SubsetStatus = NonNullable<Status['subsetStatuses']>[number];

/** v1beta1 reports by subset what v1alpha1 reports in separate maps. */
export const unitedDeploymentConversion = conversionOf(unitedDeploymentV1alpha1, unitedDeployment, {
  toStored: ({ status, ...object }) => ({ ...object, ...(status ? { status: storedStatus(status) } : {}) }),
  toOlder: ({ status, ...object }) => ({ ...object, ...(status ? { status: olderStatus(status) } : {}) }),
});

function storedStatus({ subsetReplicas = {}, updateStatus, subsetStatuses = [], ...status }: OlderStatus): Status {
  const { updatedRevision, currentPartitions = {} } = updateStatus ?? {};
  const merged: SubsetStatus[] = [...subsetStatuses];
  const merge = (name: string, part: Partial<SubsetStatus>) => {
    const index = merged.findIndex((each) => each.name === name);
    if (index < 0) merged.push({ name, ...part });
    else merged[index] = { ...merged[index], ...part };
  };
  for (const [name, replicas] of Object.entries(subsetReplicas)) merge(name, { replicas });
  for (const [name, partition] of Object.entries(currentPartitions)) merge(name, { partition });
  return {
    ...status,
    ...(merged.length > 0 ? { subsetStatuses: merged } : {}),
    ...(updatedRevision ? { updatedRevision } : {}),
  };
}

function olderStatus({ updatedRevision = '', subsetStatuses = [], ...status }: Status): OlderStatus {
  // A map has no key for a subset without a name.
  const named = subsetStatuses.filter(({ name }) => name);
  const mapOf = (field: 'replicas' | 'partition') =>
    Object.fromEntries(named.map((each) => [each.name ?? '', each[field] ?? 0]));
  const updateStatus = { updatedRevision, ...(named.length > 0 ? { currentPartitions: mapOf('partition') } : {}) };
  return {
    ...status,
    ...(subsetStatuses.length > 0 ? { subsetStatuses } : {}),
    ...(named.length > 0 ? { subsetReplicas: mapOf('replicas') } : {}),
    ...(updatedRevision || subsetStatuses.length > 0 ? { updateStatus } : {}),
  };
}
