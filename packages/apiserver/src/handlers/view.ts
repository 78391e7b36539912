import { trackUpdate } from '@kruise/machinery/server-side-apply/field-manager';
import { managerOf } from '@kruise/machinery/server-side-apply/managed-fields';
import { badRequest } from '@kruise/machinery/status';
import type { Draft } from '@kruise/schema/draft';
import type { Admission } from '../admission/admission.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { Resource, Subresource } from '../resource.ts';
import { admissionOptions } from './admit.ts';
import { appliedObject, decodeApplied, mergeApplied } from './applying.ts';
import { type Body, decodeBody } from './body.ts';
import { rejectInvalid } from './create.ts';
import { apply, decodePatched, patched, patchOf, patchValue, reportStrictErrors } from './patching.ts';
import { tracker } from './tracking.ts';
import { update } from './update.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

export type View = Extract<Subresource, { type: 'view' }>;

/** Updates an object through a view of it, such as its scale. Returns the new view. */
export async function updateView(
  core: Core,
  context: RequestContext,
  resource: Resource,
  view: View,
  options: WriteOptions,
  change: (shown: KubeObject) => Draft<KubeObject>,
): Promise<KubeObject> {
  const { subresource } = context.info;
  const { tracking } = view;
  const track = tracker(context, resource, options, { name: subresource, strategy: resource.strategy });
  const own = (live: KubeObject, draft: Draft<KubeObject>, wanted: KubeObject) => {
    if (!tracking && !view.owners) return track.changed(live, draft);
    const { managedFields } = live.metadata;
    const entries = tracking
      ? tracking.toObjectOwners({ object: managedFields, view: wanted.metadata.managedFields })
      : view.owners?.(managedFields);
    if (entries) draft.metadata.managedFields = entries as Draft<typeof entries>;
    else delete draft.metadata.managedFields;
    return draft;
  };
  const { object } = await update({ ...core, admission: admissionOf(core.admission, view) }, context, resource, {
    subresource,
    strategy: resource.strategy,
    options,
    async change(live) {
      const shown = withOwners(view, live);
      const wanted = (await core.admission.mutate({
        context,
        operation: 'UPDATE',
        resource,
        kind: view.kind,
        serializer: view.serializer,
        subresource,
        namespace: context.info.namespace,
        name: context.info.name,
        object: change(shown) as KubeObject,
        oldObject: shown,
        options: admissionOptions('UpdateOptions', context, options),
        dryRun: options.dryRun,
      })) as KubeObject;
      const { name } = wanted.metadata;
      if (name !== undefined && name !== '' && name !== context.info.name) {
        throw badRequest(`the name of the object (${name}) does not match the name on the URL (${context.info.name})`);
      }
      rejectInvalid(view.kind, wanted, view.validate(wanted));
      const { draft } = resource.serializer.decodeValue(view.write(wanted, live));
      // A resourceVersion in the view is a precondition on the object: both have the same version.
      const resourceVersion = wanted.metadata.resourceVersion || live.metadata.resourceVersion;
      if (resourceVersion) draft.metadata.resourceVersion = resourceVersion;
      return own(live, draft, wanted);
    },
  });
  return view.toView(object);
}

/** Returns the view of an object with its field owners. */
function withOwners({ toView, tracking }: View, live: KubeObject): KubeObject {
  const shown = toView(live);
  const managedFields = tracking?.toViewOwners(live.metadata.managedFields);
  return managedFields ? { ...shown, metadata: { ...shown.metadata, managedFields } } : shown;
}

/** Tracks field ownership of a view. */
function trackedBy(context: RequestContext, { fieldManager }: WriteOptions, { tracking }: View) {
  return (shown: KubeObject, draft: Draft<KubeObject>): Draft<KubeObject> =>
    tracking
      ? (trackUpdate(tracking.tracked, {
          live: shown,
          updated: draft as KubeObject,
          manager: managerOf({ fieldManager, userAgent: context.userAgent }),
          subresource: context.info.subresource,
          now: context.clock.now(),
        }) as Draft<KubeObject>)
      : draft;
}

/** Admission runs on the view, which is what the client writes; the view is already mutated. */
function admissionOf(admission: Admission, view: View): Admission {
  return {
    mutate: async ({ object }) => object,
    validate: (attributes) =>
      admission.validate({
        ...attributes,
        kind: view.kind,
        serializer: view.serializer,
        object: attributes.object && view.toView(attributes.object),
        oldObject: attributes.oldObject && view.toView(attributes.oldObject),
      }),
  };
}

/** Replaces a view of an object. */
export function putView(
  core: Core,
  context: RequestContext,
  resource: Resource,
  view: View,
  body: Body,
): Promise<KubeObject> {
  const options = writeOptions(context.query, 'UpdateOptions');
  const decode = () => decodeBody(context, view, body, options.fieldValidation);
  let first: Draft<KubeObject> | undefined = decode();
  const track = trackedBy(context, options, view);
  return updateView(core, context, resource, view, options, (shown) => {
    const draft = first ?? decode();
    first = undefined;
    return track(shown, draft);
  });
}

/** Patches a view of an object. */
export function patchView(
  core: Core,
  context: RequestContext,
  resource: Resource,
  view: View,
  body: Body,
): Promise<KubeObject> {
  const sent = patchOf(resource, body);
  const options = writeOptions(context.query, 'PatchOptions', sent.type);
  if (sent.type === apply && view.tracking) {
    const { tracked } = view.tracking;
    const applied = appliedObject(view, body, options);
    return updateView(core, context, resource, view, options, (shown) =>
      decodeApplied(view.serializer, mergeApplied(context, tracked, { live: shown, applied, options })),
    );
  }
  const value = patchValue(sent);
  const track = trackedBy(context, options, view);
  return updateView(core, context, resource, view, options, (shown) => {
    const made = patched(view.mergeType, sent.type, shown, value);
    const decoded = decodePatched(view.serializer, shown, made, sent);
    reportStrictErrors(context, decoded, options, sent, made);
    return track(shown, decoded.draft);
  });
}
