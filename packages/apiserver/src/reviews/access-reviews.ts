import type { SubjectAccessReviewSpec, SubjectAccessReviewStatus } from '@kruise/api/authorization/attributes';
import { localSubjectAccessReview } from '@kruise/api/authorization/localsubjectaccessreview';
import { selfSubjectAccessReview } from '@kruise/api/authorization/selfsubjectaccessreview';
import { subjectAccessReview } from '@kruise/api/authorization/subjectaccessreview';
import { invalidStructure } from '@kruise/api/meta/go-value';
import { badRequest, invalid } from '@kruise/machinery/status';
import { type Cause, invalid as invalidField } from '@kruise/schema/field-error';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { User } from '../user.ts';
import type { VirtualResource } from '../virtual-resource.ts';
import {
  accessFaults,
  nonResourceFault,
  type ReviewedAccess,
  reviewedAttributes,
  selectorFaults,
  subjectFaults,
} from './attributes.ts';
import { reviewOf } from './review.ts';

/** Creates the SubjectAccessReview resources. */
export function accessReviews(authorizer: Authorizer): readonly VirtualResource[] {
  async function answer(review: KubeObject, user: User, spec: ReviewedAccess): Promise<KubeObject> {
    const { attributes, error } = reviewedAttributes(user, spec);
    const { verdict, reason } = await authorizer.authorize(attributes);
    const status: SubjectAccessReviewStatus = {
      allowed: verdict === 'allow',
      ...(verdict === 'deny' ? { denied: true } : {}),
      ...(reason === '' ? {} : { reason }),
      ...(error === '' ? {} : { evaluationError: error }),
    };
    return { ...review, status };
  }

  const specOf = ({ spec }: KubeObject) => (spec ?? {}) as SubjectAccessReviewSpec;

  return [
    reviewOf(selfSubjectAccessReview, ({ user }, review) => {
      const spec = specOf(review);
      refuse([...accessFaults(spec), ...selectorFaults(spec), ...metadataFaults(review, 'must be empty')]);
      return answer(review, user, spec);
    }),
    reviewOf(subjectAccessReview, (_context, review) => {
      const spec = specOf(review);
      refuse([...specFaults(spec), ...metadataFaults(review, 'must be empty')]);
      return answer(review, subjectOf(spec), spec);
    }),
    reviewOf(localSubjectAccessReview, (context, sent) => {
      const review = inNamespace(context, sent);
      const spec = specOf(review);
      refuse([
        ...specFaults(spec),
        ...metadataFaults(review, 'must be empty except for namespace'),
        ...localFaults(spec, context.info.namespace),
      ]);
      return answer(review, subjectOf(spec), spec);
    }),
  ];
}

function* specFaults(spec: SubjectAccessReviewSpec): Generator<Cause> {
  yield* accessFaults(spec);
  yield* subjectFaults(spec);
  yield* selectorFaults(spec);
}

/** A review must not have metadata. */
function* metadataFaults({ metadata }: KubeObject, detail: string): Generator<Cause> {
  const { managedFields: _, namespace: __, creationTimestamp: ___, ...rest } = metadata;
  if (Object.keys(rest).length > 0) yield invalidStructure('metadata', 'v1.ObjectMeta', metadata, detail);
}

function* localFaults(spec: SubjectAccessReviewSpec, namespace: string): Generator<Cause> {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes && (resourceAttributes.namespace ?? '') !== namespace) {
    yield invalidField(
      'spec.resourceAttributes.namespace',
      resourceAttributes.namespace ?? '',
      'must match metadata.namespace',
    );
  }
  if (nonResourceAttributes) {
    yield nonResourceFault(nonResourceAttributes, 'disallowed on this kind of request');
  }
}

function inNamespace({ info }: RequestContext, review: KubeObject): KubeObject {
  const { namespace } = review.metadata;
  if (namespace && namespace !== info.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return { ...review, metadata: { ...review.metadata, namespace: info.namespace } };
}

/** Kubernetes omits the kind in these errors too. */
function refuse(causes: readonly Cause[]): void {
  if (causes.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', causes);
}

function subjectOf({ user = '', groups, uid, extra }: SubjectAccessReviewSpec): User {
  return { username: user, groups: groups ?? [], ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) };
}
