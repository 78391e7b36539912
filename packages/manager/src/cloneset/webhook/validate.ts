/** Validation of CloneSets. */
import type { Pod } from '@kruise/api/core/pod';
import { validatePodTemplateSpec } from '@kruise/api/core/pod-spec.validate';
import { validateOwnSelector, validateSelected } from '@kruise/api/core/workload.validate';
import type { CloneSet, CloneSetRollingUpdate, CloneSetV1alpha1 } from '@kruise/api/kruise/cloneset';
import { invalidIntOrString } from '@kruise/api/meta/go-value';
import { subdomainName } from '@kruise/api/meta/name-rules';
import { validateObjectMeta, validateObjectMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import { isSame } from '@kruise/api/meta/same';
import { nonNegative } from '@kruise/api/meta/value.validate';
import { createJsonPatch } from '@kruise/client/json-patch-diff';
import { controllerOf } from '@kruise/machinery/owner-references';
import { type Cause, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { compareStrings, quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { withClaimVolumes } from '../../webhooks/claim-volumes.ts';
import { parallelismFault } from '../../webhooks/parallelism.validate.ts';
import { withTemplateDefaults } from '../../webhooks/pod-template.default.ts';
import { priorityFault, scatterFault } from '../../webhooks/update-order.validate.ts';
import { scaledValue } from '../../workload/percent.ts';

type AnyCloneSet = CloneSet | CloneSetV1alpha1;

/** Finds a Pod in the CloneSet's namespace. */
export type FindPod = (name: string) => Pod | undefined;

export function* validateCloneSet(cloneSet: CloneSet, gates: FeatureGates, old?: CloneSet): Generator<Cause> {
  if (old) yield* validateUpdate(cloneSet, old);
  yield* validateCommon(cloneSet, gates);
  yield* validateStrategy(cloneSet.spec);
}

export function* validateCloneSetV1alpha1(
  cloneSet: CloneSetV1alpha1,
  gates: FeatureGates,
  findPod: FindPod,
  old?: CloneSetV1alpha1,
): Generator<Cause> {
  if (old) {
    yield* validateUpdate(cloneSet, old);
    if (cloneSet.spec.updateStrategy?.type === 'InPlaceOnly') yield* validateInPlaceOnly(cloneSet, old);
  }
  const { spec } = cloneSet;
  const hasDuplicates = yield* validateCommon(cloneSet, gates);
  if (!hasDuplicates) yield* validatePodsToDelete(cloneSet, findPod, old);
  yield* validateStrategyV1alpha1(spec);
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  if (deadline === undefined) return;
  yield* nonNegative(deadlinePath, deadline);
  if (deadline !== never && deadline <= minReadySeconds) {
    yield invalid(deadlinePath, deadline, 'must be greater than minReadySeconds');
  }
}

const deadlinePath = 'spec.progressDeadlineSeconds';
const never = 2147483647;

/** Validates fields of both versions. Returns whether podsToDelete has duplicates. */
function* validateCommon({ metadata, spec }: AnyCloneSet, gates: FeatureGates): Generator<Cause, boolean> {
  yield* validateObjectMeta(metadata, { namespaced: true, name: subdomainName });
  yield* nonNegative('spec.replicas', spec.replicas);
  const rules = { kind: 'cloneset', ifInvalid: '' };
  const isSelectorValid = yield* validateOwnSelector(spec.selector, rules, 'spec.selector');
  if (isSelectorValid) {
    yield* validateSelected(spec.selector, spec.template, 'spec.template');
    // The template is validated with the defaults that its Pods would get, so that omitted fields are not reported.
    const template = withTemplateDefaults(spec.template, gates);
    yield* validatePodTemplateSpec(withClaimVolumes(template, spec.volumeClaimTemplates), 'spec.template');
  }
  const { restartPolicy, activeDeadlineSeconds } = spec.template.spec ?? {};
  if (restartPolicy && restartPolicy !== 'Always') {
    yield notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always']);
  }
  if (activeDeadlineSeconds !== undefined) {
    yield forbidden('spec.template.spec.activeDeadlineSeconds', 'activeDeadlineSeconds in cloneset is not Supported');
  }
  const { podsToDelete = [] } = spec.scaleStrategy ?? {};
  const twice = [...new Set(podsToDelete.filter((name, index) => podsToDelete.indexOf(name) !== index))];
  if (twice.length === 0) return false;
  yield invalid(podsToDeletePath, podsToDelete, `duplicated items [${twice.join(' ')}]`);
  return true;
}

const podsToDeletePath = 'spec.scaleStrategy.podsToDelete';

/** Only added names are looked up, because the Pods of earlier names may already be deleted. */
function* validatePodsToDelete(
  { metadata, spec }: CloneSetV1alpha1,
  findPod: FindPod,
  old: CloneSetV1alpha1 | undefined,
): Generator<Cause> {
  const known = new Set(old?.spec.scaleStrategy?.podsToDelete);
  const names = (spec.scaleStrategy?.podsToDelete ?? []).filter((name) => !known.has(name));
  for (const name of names.toSorted(compareStrings)) {
    const pod = findPod(name);
    if (!pod) yield invalid(podsToDeletePath, name, `find pod ${name} failed: Pod ${quote(name)} not found`);
    else if (pod.metadata.deletionTimestamp != null) {
      yield invalid(podsToDeletePath, name, `find pod ${name} already terminating`);
    } else if (controllerOf(pod)?.uid !== metadata.uid) {
      yield invalid(podsToDeletePath, name, `find pod ${name} owner is not this CloneSet`);
    }
  }
}

function* validateStrategyV1alpha1({ updateStrategy = {}, replicas = 1 }: CloneSetV1alpha1['spec']): Generator<Cause> {
  const path = 'spec.updateStrategy';
  const { type = '' } = updateStrategy;
  if (!policies.includes(type)) {
    yield invalid(`${path}.type`, type, "must be 'ReCreate', InPlaceIfPossible or 'InPlaceOnly'");
  }
  yield* validateLimits(updateStrategy, replicas, path, {
    isInPlaceOnly: type === 'InPlaceOnly',
    why: 'can not use maxSurge with strategy type InPlaceOnly',
  });
}

const policies: readonly string[] = ['ReCreate', 'InPlaceIfPossible', 'InPlaceOnly'];

function* validateStrategy({ updateStrategy = {}, replicas = 1 }: CloneSet['spec']): Generator<Cause> {
  const { type = '', rollingUpdate } = updateStrategy as { readonly type?: string } & typeof updateStrategy;
  if (!['RollingUpdate', 'OnDelete', ''].includes(type)) {
    yield invalid('spec.updateStrategy.type', type, "must be 'RollingUpdate' or 'OnDelete'");
  }
  if (!rollingUpdate) return;
  const path = 'spec.updateStrategy.rollingUpdate';
  const { podUpdatePolicy = '' } = rollingUpdate;
  if (podUpdatePolicy !== '' && !policies.includes(podUpdatePolicy)) {
    yield invalid(
      `${path}.podUpdatePolicy`,
      podUpdatePolicy,
      "must be 'ReCreate', 'InPlaceIfPossible' or 'InPlaceOnly'",
    );
  }
  yield* validateLimits(rollingUpdate, replicas, path, {
    isInPlaceOnly: podUpdatePolicy === 'InPlaceOnly',
    why: 'can not use maxSurge with podUpdatePolicy InPlaceOnly',
  });
  yield* validatePreDownload(rollingUpdate, `${path}.inPlaceUpdateStrategy`);
}

function* validateLimits(
  limits: CloneSetRollingUpdate,
  replicas: number,
  path: string,
  surge: { readonly isInPlaceOnly: boolean; readonly why: string },
): Generator<Cause> {
  const partition = yield* validateScaled(limits.partition ?? '', replicas, path, 'partition');
  yield* nonNegative(`${path}.partition`, partition);
  const priority = priorityFault(limits.priorityStrategy);
  if (priority) yield required(`${path}.priorityStrategy`, priority);
  const scatter = scatterFault(limits.scatterStrategy);
  if (scatter) yield required(`${path}.scatterStrategy`, scatter);
  const maxUnavailable = yield* validateScaled(limits.maxUnavailable ?? 0, replicas, path, 'maxUnavailable');
  const maxSurge = yield* validateScaled(limits.maxSurge ?? 0, replicas, path, 'maxSurge');
  if (surge.isInPlaceOnly && maxSurge > 0) yield invalid(`${path}.maxSurge`, String(limits.maxSurge), surge.why);
  if (replicas > 0 && maxUnavailable < 1 && maxSurge < 1) {
    yield invalidIntOrString(
      `${path}.maxUnavailable`,
      limits.maxUnavailable ?? 0,
      'maxUnavailable and maxSurge should not both be less than 1',
    );
  }
}

/** Returns the number of Pods; undefined if it cannot be computed. */
function* validateScaled(
  value: number | string,
  replicas: number,
  path: string,
  name: string,
): Generator<Cause, number> {
  try {
    return scaledValue(value, replicas, Math.ceil);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const why = `failed GetScaledValueFromIntOrPercent for ${name}: ${error.message}`;
    yield invalid(`${path}.${name}`, String(value), why);
    return 0;
  }
}

function* validatePreDownload({ inPlaceUpdateStrategy }: CloneSetRollingUpdate, path: string): Generator<Cause> {
  if (!inPlaceUpdateStrategy) return;
  const {
    imagePreDownloadParallelism: parallelism,
    imagePreDownloadTimeoutSeconds,
    imagePreDownloadMinUpdatedReadyPods,
  } = inPlaceUpdateStrategy;
  const fault = parallelism === undefined ? undefined : parallelismFault(parallelism);
  if (fault) yield invalid(`${path}.imagePreDownloadParallelism`, parallelism, `imagePreDownloadParallelism ${fault}`);
  yield* nonNegative(`${path}.imagePreDownloadTimeoutSeconds`, imagePreDownloadTimeoutSeconds);
  yield* nonNegative(`${path}.imagePreDownloadMinUpdatedReadyPods`, imagePreDownloadMinUpdatedReadyPods);
}

function* validateUpdate(cloneSet: AnyCloneSet, old: AnyCloneSet): Generator<Cause> {
  yield* validateObjectMetaUpdate(cloneSet.metadata, old.metadata);
  // Only the selector is immutable.
  if (isSame(cloneSet.spec.selector, old.spec.selector)) return;
  yield forbidden(
    'spec',
    "updates to cloneset spec for fields other than 'replicas', 'template', 'lifecycle', 'scaleStrategy', 'updateStrategy', 'minReadySeconds', 'progressDeadlineSeconds', 'volumeClaimTemplates' and 'revisionHistoryLimit' are forbidden",
  );
}

/** With the type InPlaceOnly, only images may change. */
function* validateInPlaceOnly(cloneSet: CloneSetV1alpha1, old: CloneSetV1alpha1): Generator<Cause> {
  const changes = createJsonPatch(old.spec.template.spec ?? {}, cloneSet.spec.template.spec ?? {});
  const found = changes.find(({ op, path }) => op !== 'replace' || !/^\/containers\/\d+\/image$/.test(path));
  if (!found) return;
  const why = `only allowed to update images in spec for InPlaceOnly, but found ${found.op} ${found.path}`;
  yield forbidden('spec', why);
}
