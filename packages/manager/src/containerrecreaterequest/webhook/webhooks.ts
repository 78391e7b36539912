import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import {
  containerRecreateRequest,
  containerRecreateRequestV1alpha1,
} from '@kruise/api/kruise/containerrecreaterequest';
import { recreateNodeNameLabel, recreatePodUidLabel, recreateUnreadyAcquired } from '@kruise/api/kruise/well-known';
import { type AdmissionDecision, allow, mutate, type Webhook } from '@kruise/client/webhook';
import { isSame } from '@kruise/machinery/json-value';
import { isNotFound } from '@kruise/machinery/status';
import { handler, refuse, unsupportedVersion, versionOf, type WebhookContext } from '../../webhooks/context.ts';
import { typed } from '../../webhooks/typed.ts';
import { type AnyRequest, faultOfContainers, faultOfPod, faultOfRequest, filledIn } from './fill.ts';

const versions: {
  readonly [version: string]: typeof containerRecreateRequest | typeof containerRecreateRequestV1alpha1;
} = {
  v1beta1: containerRecreateRequest,
  v1alpha1: containerRecreateRequestV1alpha1,
};

/** Defaults requests when they are created, and makes their spec immutable afterwards. */
export function containerRecreateRequestFilling(context: WebhookContext): Webhook {
  return handler<AnyRequest>(async (request) => {
    if (!context.settings.gates.KruiseDaemon) return refuse(403, 'feature-gate KruiseDaemon is not enabled');
    const kind = versions[versionOf(request)];
    if (!kind) return unsupportedVersion(request);
    const object = typed(kind, request.object);
    if (request.operation === 'UPDATE') return judgeChange(object, typed(kind, request.oldObject));
    return fillIn(context, object, request.namespace ?? '');
  });
}

async function fillIn(
  { client }: WebhookContext,
  object: AnyRequest,
  namespace: string,
): Promise<AdmissionDecision<AnyRequest>> {
  const fault = faultOfRequest(object);
  if (fault) return refuse(400, fault);
  const name = object.spec.podName;
  const [found, podFault] = await attempt(client.get(pod, { namespace, name }));
  if (!found)
    return isNotFound(podFault)
      ? refuse(400, `no found Pod named ${name}`)
      : refuse(500, `failed to find Pod ${name}: ${textOf(podFault)}`);
  const faultThere = faultOfPod(found);
  if (faultThere) return refuse(400, faultThere);
  const nodeName = found.spec?.nodeName ?? '';
  const [foundNode, nodeFault] = await attempt(client.get(node, { name: nodeName }));
  if (!foundNode)
    return refuse(isNotFound(nodeFault) ? 400 : 500, `failed to get Node ${nodeName}: ${textOf(nodeFault)}`);
  const containerFault = faultOfContainers(object, found);
  return containerFault ? refuse(400, containerFault) : mutate(filledIn(object, found, foundNode));
}

/** Returns the result of a promise, or its error. */
async function attempt<T>(promise: Promise<T>): Promise<readonly [T | undefined, unknown]> {
  try {
    return [await promise, undefined];
  } catch (error) {
    return [undefined, error];
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function judgeChange(object: AnyRequest, old: AnyRequest): AdmissionDecision<never> {
  if (!isSame(object.spec, old.spec)) return refuse(403, 'spec of ContainerRecreateRequest is immutable');
  for (const label of [recreatePodUidLabel, recreateNodeNameLabel]) {
    if (object.metadata.labels?.[label] === old.metadata.labels?.[label]) continue;
    return refuse(403, `not allowed to update immutable label ${label}`);
  }
  // v1beta1 has a condition instead.
  const acquired = old.metadata.annotations?.[recreateUnreadyAcquired];
  const isOlder = old.apiVersion.endsWith('/v1alpha1');
  if (isOlder && acquired && object.metadata.annotations?.[recreateUnreadyAcquired] !== acquired) {
    return refuse(403, `not allowed to update immutable annotation ${recreateUnreadyAcquired}`);
  }
  return allow();
}
