/** Kinds whose versions differ in more than their name, and the conversion of objects of all kinds. */
import type { JsonObject } from '@kruise/machinery/json-value';
import { badRequest } from '@kruise/machinery/status';
import { cloneSetConversion } from '../cloneset/conversion.ts';
import { containerRecreateRequestConversion } from '../containerrecreaterequest/conversion.ts';
import { daemonSetConversion } from '../daemonset/conversion.ts';
import { persistentPodStateConversion } from '../persistentpodstate/conversion.ts';
import { podUnavailableBudgetConversion } from '../podunavailablebudget/conversion.ts';
import { resourceDistributionConversion } from '../resourcedistribution/conversion.ts';
import { sidecarSetConversion } from '../sidecarset/conversion.ts';
import { statefulSetConversion } from '../statefulset/conversion.ts';
import { unitedDeploymentConversion } from '../uniteddeployment/conversion.ts';
import { workloadSpreadConversion } from '../workloadspread/conversion.ts';
import type { KindConversion } from './conversion.ts';

export const conversions: readonly KindConversion[] = [
  cloneSetConversion,
  containerRecreateRequestConversion,
  daemonSetConversion,
  persistentPodStateConversion,
  podUnavailableBudgetConversion,
  resourceDistributionConversion,
  sidecarSetConversion,
  statefulSetConversion,
  unitedDeploymentConversion,
  workloadSpreadConversion,
];

const byName = new Map(conversions.map((each) => [`${each.stored.group} ${each.stored.kind}`, each]));

/** Returns the conversion of a kind; undefined if its versions differ only in their name. */
export function conversionFor({
  group,
  kind,
}: {
  readonly group: string;
  readonly kind: string;
}): KindConversion | undefined {
  return byName.get(`${group} ${kind}`);
}

/** Converts an object of any of Kruise's kinds to another version. */
export function convertObject(object: JsonObject, apiVersion: string): JsonObject {
  const [group = ''] = apiVersion.split('/');
  const { kind, apiVersion: from } = object;
  if (typeof kind !== 'string' || typeof from !== 'string' || from.split('/')[0] !== group) {
    throw badRequest(`cannot convert ${String(from)} ${String(kind)} to ${apiVersion}`);
  }
  return conversionFor({ group, kind })?.convert(object, apiVersion) ?? { ...object, apiVersion };
}
