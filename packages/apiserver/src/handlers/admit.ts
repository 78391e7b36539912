import type { Kind } from '@kruise/schema/kind';
import type { Attributes } from '../admission/admission.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { Serializer } from '../resource.ts';
import type { WriteOptions } from './write-options.ts';

/** Returns CreateOptions or UpdateOptions as sent to admission; a patch is an update there. */
export function admissionOptions(
  kind: 'CreateOptions' | 'UpdateOptions',
  context: RequestContext,
  { dryRun, fieldManager, fieldValidation }: WriteOptions,
): NonNullable<Attributes['options']> {
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(fieldManager ? { fieldManager } : {}),
    ...(context.query.get('fieldValidation') ? { fieldValidation } : {}),
  };
}

/** Runs admission for a POST that is not stored itself: a review, a binding, an eviction. */
export async function admitAction(
  core: Core,
  context: RequestContext,
  resource: { readonly kind: Kind },
  { kind, serializer }: { readonly kind: Kind; readonly serializer: Serializer },
  object: KubeObject,
  options: WriteOptions,
): Promise<KubeObject> {
  const { namespace, name, subresource } = context.info;
  const attributes: Attributes = {
    context,
    operation: 'CREATE',
    resource,
    kind,
    serializer,
    subresource,
    namespace: resource.kind.scope === 'Namespaced' ? namespace : '',
    name: subresource === '' ? (object.metadata?.name ?? '') : name,
    object,
    oldObject: undefined,
    options: admissionOptions('CreateOptions', context, options),
    dryRun: options.dryRun,
  };
  const admitted = (await core.admission.mutate(attributes)) as KubeObject;
  await core.admission.validate({ ...attributes, object: admitted });
  return admitted;
}

/** Runs admission for a connect subresource. */
export async function admitConnect(
  core: Core,
  context: RequestContext,
  resource: { readonly kind: Kind },
  kind: Pick<Kind, 'group' | 'version' | 'kind'>,
  options: KubeObject,
): Promise<void> {
  const { namespace, name, subresource } = context.info;
  const attributes: Attributes = {
    context,
    operation: 'CONNECT',
    resource,
    kind,
    subresource,
    namespace: resource.kind.scope === 'Namespaced' ? namespace : '',
    name,
    object: options,
    oldObject: undefined,
    options: null,
    dryRun: false,
  };
  await core.admission.mutate(attributes);
  await core.admission.validate(attributes);
}
