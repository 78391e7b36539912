import type { ParamKind, ValidatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import type {
  ParamRef,
  ValidatingAdmissionPolicyBinding,
} from '@kruise/api/admissionregistration/validatingadmissionpolicybinding';
import { isSame } from '@kruise/machinery/json-value';
import { type Cause, forbidden } from '@kruise/schema/field-error';
import { apiVersionOf } from '@kruise/schema/kind';
import type { Core } from '../core.ts';
import type { Strategy } from '../resource.ts';
import type { User } from '../user.ts';

const group = 'admissionregistration.k8s.io';

/**
 * Policies and bindings may only reference params that their author may read, because messages can expose the params.
 */
export function guardPolicyParams(core: Core): void {
  const guard = (plural: string, checkReferences: NonNullable<Strategy['checkReferences']>) => {
    for (const resource of core.resources.versionsOf(group, plural)) {
      core.resources.add({ ...resource, strategy: { ...resource.strategy, checkReferences } });
    }
  };

  async function mayRead(
    user: User,
    kind: ParamKind | undefined,
    { name, namespace = '' }: ParamRef,
  ): Promise<boolean> {
    // A missing or unknown kind could resolve to any resource later.
    const [apiGroup = '*', version = '*', plural = '*'] = kind ? resolve(core, kind) : [];
    const { verdict } = await core.authorizer.authorize({
      user,
      verb: name ? 'get' : 'list',
      resource: true,
      group: apiGroup,
      version,
      plural,
      subresource: '',
      namespace,
      name: name ?? '',
    });
    return verdict === 'allow';
  }

  guard('validatingadmissionpolicies', async (object, old, { user }) => {
    const paramKind = (object as unknown as ValidatingAdmissionPolicy).spec?.paramKind;
    const before = (old as unknown as ValidatingAdmissionPolicy | undefined)?.spec?.paramKind;
    if (!paramKind || isSame(paramKind, before) || isMaster(user)) return [];
    if (await mayRead(user, paramKind, { name: '*', namespace: '*' })) return [];
    const { kind, apiVersion } = paramKind;
    const what = `all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
    return [forbidden('spec.paramKind', `user ${goUser(user)} must have "get" permission on ${what}`)];
  });

  guard('validatingadmissionpolicybindings', async (object, old, { user }) => {
    const { policyName, paramRef } = (object as unknown as ValidatingAdmissionPolicyBinding).spec ?? {};
    const before = (old as unknown as ValidatingAdmissionPolicyBinding | undefined)?.spec;
    const isUnchanged = isSame(paramRef, before?.paramRef) && policyName === before?.policyName;
    if (!paramRef || isUnchanged || isMaster(user)) return [];
    const policies = core.resources.find(group, 'v1', 'validatingadmissionpolicies')?.storage;
    const found = policies?.cache.get(policies.keyOf(undefined, policyName ?? ''))?.object;
    const policy = found as unknown as ValidatingAdmissionPolicy | undefined;
    if (await mayRead(user, policy?.spec?.paramKind, paramRef)) return [];
    return [refusal(user, paramRef, policyName ?? '', policy)];
  });
}

function refusal(
  user: User,
  { name }: ParamRef,
  policyName: string,
  policy: ValidatingAdmissionPolicy | undefined,
): Cause {
  const verb = name ? 'get' : 'list';
  const why = policy
    ? `user ${goUser(user)} does not have "${verb}" permission on the object referenced by paramRef`
    : `unable to get policy ${policyName} to determine minimum required permissions and user ${goUser(user)} does not have "${verb}" permission for all groups, versions and resources`;
  return forbidden('spec.paramRef', why);
}

/** Returns the group, version and plural of a kind, as far as they are known. */
function resolve(core: Core, { apiVersion = '', kind }: ParamKind): readonly string[] {
  for (const resource of core.resources.all()) {
    if (resource.kind.kind === kind && apiVersionOf(resource.kind) === apiVersion) {
      return [resource.kind.group, resource.kind.version, resource.kind.plural];
    }
  }
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

function isMaster({ groups }: User): boolean {
  return groups.includes('system:masters');
}

/** Formats a user as Go does. */
function goUser({ username, uid = '', groups }: User): string {
  return `&{${username} ${uid} [${groups.join(' ')}] map[]}`;
}
