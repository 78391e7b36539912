/** Tables of the kinds that control requests: authorization, admission, flow control and aggregation. */
import { humanDuration } from '@kruise/values/human-duration';
import {
  ageColumn,
  condition,
  integer,
  type Loose,
  nameColumn,
  selector,
  tableOfColumns,
  text,
  wide,
} from './cells.ts';
import type { TableColumns } from './table.ts';

function subjects(kind: string) {
  return (binding: Loose): string =>
    (binding.subjects ?? [])
      .filter((subject: Loose) => subject.kind === kind)
      .map(({ name, namespace }: Loose) => (kind === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
      .join(', ');
}

const binding = (described: { readonly kind: string; readonly role: string }) =>
  tableOfColumns([
    nameColumn,
    text('Role', described.role, ({ roleRef }) => `${roleRef?.kind}/${roleRef?.name}`),
    ageColumn,
    wide(text('Users', `Users in the ${described.kind}`, subjects('User'))),
    wide(text('Groups', `Groups in the ${described.kind}`, subjects('Group'))),
    wide(text('ServiceAccounts', `ServiceAccounts in the ${described.kind}`, subjects('ServiceAccount'))),
  ]);

const webhooks = tableOfColumns([
  nameColumn,
  integer(
    'Webhooks',
    'Webhooks indicates the number of webhooks registered in this configuration',
    ({ webhooks: all }) => (all ?? []).length,
  ),
  ageColumn,
]);

function requestCondition({ status }: Loose): string {
  const types = new Set((status?.conditions ?? []).map(({ type }: Loose) => type));
  const verdict = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  return `${verdict}${types.has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`;
}

function paramReference({ spec }: Loose): string {
  const reference = spec?.paramRef;
  if (!reference) return '<unset>';
  if (reference.name) return `${reference.namespace ?? '*'}/${reference.name}`;
  return reference.selector ? selector(reference.selector) : '<unset>';
}

const limited =
  (read: (limited: Loose) => unknown) =>
  ({ spec }: Loose) => {
    const value = spec?.limited ? read(spec.limited) : undefined;
    return value ?? '<none>';
  };

/** Compares FlowSchemas in matching order: by precedence, then by name. */
function byPrecedence(a: Loose, b: Loose): number {
  const difference = (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0);
  return difference || (a.metadata.name < b.metadata.name ? -1 : 1);
}

export const requestTables: { readonly [kind: string]: TableColumns } = {
  RoleBinding: binding({
    kind: 'roleBinding',
    role: 'RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.',
  }),
  ClusterRoleBinding: binding({
    kind: 'clusterRoleBinding',
    role: 'RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.',
  }),
  CertificateSigningRequest: tableOfColumns([
    nameColumn,
    ageColumn,
    text(
      'SignerName',
      'Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, it will be defaulted:\n 1. If it\'s a kubelet client certificate, it is assigned\n    "kubernetes.io/kube-apiserver-client-kubelet".\n 2. If it\'s a kubelet serving certificate, it is assigned\n    "kubernetes.io/kubelet-serving".\n 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".\nDistribution of trust for signers happens out of band. You can select on this field using `spec.signerName`.',
      ({ spec }) => spec?.signerName || '<none>',
    ),
    text('Requestor', 'Base64-encoded PKCS#10 CSR data', ({ spec }) => spec?.username ?? ''),
    text(
      'RequestedDuration',
      'expirationSeconds is the requested duration of validity of the issued certificate. The certificate signer may issue a certificate with a different validity duration so a client must check the delta between the notBefore and and notAfter fields in the issued certificate to determine the actual duration.\n\nThe v1.22+ in-tree implementations of the well-known Kubernetes signers will honor this field as long as the requested duration is not greater than the maximum duration they will honor per the --cluster-signing-duration CLI flag to the Kubernetes controller manager.\n\nCertificate signers may not honor this field for various reasons:\n\n  1. Old signer that is unaware of the field (such as the in-tree\n     implementations prior to v1.22)\n  2. Signer whose configured maximum is shorter than the requested duration\n  3. Signer whose configured minimum is longer than the requested duration\n\nThe minimum valid value for expirationSeconds is 600, i.e. 10 minutes.',
      ({ spec }) => (spec?.expirationSeconds == null ? '<none>' : humanDuration(spec.expirationSeconds * 1000)),
    ),
    text('Condition', 'Conditions applied to the request, such as approval or denial.', requestCondition),
  ]),
  MutatingWebhookConfiguration: webhooks,
  ValidatingWebhookConfiguration: webhooks,
  ValidatingAdmissionPolicy: tableOfColumns([
    nameColumn,
    integer(
      'Validations',
      'Validations indicates the number of validation rules defined in this configuration',
      ({ spec }) => (spec?.validations ?? []).length,
    ),
    text('ParamKind', 'ParamKind specifies the kind of resources used to parameterize this policy', ({ spec }) =>
      spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : '<unset>',
    ),
    ageColumn,
  ]),
  ValidatingAdmissionPolicyBinding: tableOfColumns([
    nameColumn,
    text(
      'PolicyName',
      'PolicyName indicates the policy definition which the policy binding binded to',
      ({ spec }) => spec?.policyName ?? '',
    ),
    text('ParamRef', 'ParamRef indicates the param resource which sets the configration param', paramReference),
    ageColumn,
  ]),
  FlowSchema: tableOfColumns(
    [
      nameColumn,
      text(
        'PriorityLevel',
        '`name` is the name of the priority level configuration being referenced Required.',
        ({ spec }) => spec?.priorityLevelConfiguration?.name ?? '',
      ),
      text(
        'MatchingPrecedence',
        '`matchingPrecedence` is used to choose among the FlowSchemas that match a given request. The chosen FlowSchema is among those with the numerically lowest (which we take to be logically highest) MatchingPrecedence.  Each MatchingPrecedence value must be ranged in [1,10000]. Note that if the precedence is not specified, it will be set to 1000 as default.',
        ({ spec }) => spec?.matchingPrecedence ?? 0,
      ),
      text(
        'DistinguisherMethod',
        '`distinguisherMethod` defines how to compute the flow distinguisher for requests that match this schema. `nil` specifies that the distinguisher is disabled and thus will always be the empty string.',
        ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>',
      ),
      ageColumn,
      text(
        'MissingPL',
        'references a broken or non-existent PriorityLevelConfiguration',
        (schema) => condition(schema, 'Dangling')?.status ?? '?',
      ),
    ],
    { order: byPrecedence },
  ),
  PriorityLevelConfiguration: tableOfColumns([
    nameColumn,
    text(
      'Type',
      '`type` indicates whether this priority level is subject to limitation on request execution.  A value of `"Exempt"` means that requests of this priority level are not subject to a limit (and thus are never queued) and do not detract from the capacity made available to other priority levels.  A value of `"Limited"` means that (a) requests of this priority level _are_ subject to limits and (b) some of the server\'s limited capacity is made available exclusively to this priority level. Required.',
      ({ spec }) => spec?.type ?? '',
    ),
    text(
      'NominalConcurrencyShares',
      '`nominalConcurrencyShares` (NCS) contributes to the computation of the NominalConcurrencyLimit (NominalCL) of this level. This is the number of execution seats available at this priority level. This is used both for requests dispatched from this priority level as well as requests dispatched from other priority levels borrowing seats from this level. The server\'s concurrency limit (ServerCL) is divided among the Limited priority levels in proportion to their NCS values:\n\nNominalCL(i)  = ceil( ServerCL * NCS(i) / sum_ncs ) sum_ncs = sum[priority level k] NCS(k)\n\nBigger numbers mean a larger nominal concurrency limit, at the expense of every other priority level.\n\nIf not specified, this field defaults to a value of 30.\n\nSetting this field to zero supports the construction of a "jail" for this priority level that is used to hold some request(s)',
      ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? spec?.exempt?.nominalConcurrencyShares ?? '<none>',
    ),
    text(
      'Queues',
      '`queues` is the number of queues for this priority level. The queues exist independently at each apiserver. The value must be positive.  Setting it to 1 effectively precludes shufflesharding and thus makes the distinguisher method of associated flow schemas irrelevant.  This field has a default value of 64.',
      limited(({ limitResponse }) => limitResponse?.queuing?.queues),
    ),
    text(
      'HandSize',
      "`handSize` is a small positive number that configures the shuffle sharding of requests into queues.  When enqueuing a request at this priority level the request's flow identifier (a string pair) is hashed and the hash value is used to shuffle the list of queues and deal a hand of the size specified here.  The request is put into one of the shortest queues in that hand. `handSize` must be no larger than `queues`, and should be significantly smaller (so that a few heavy flows do not saturate most of the queues).  See the user-facing documentation for more extensive guidance on setting this field.  This field has a default value of 8.",
      limited(({ limitResponse }) => limitResponse?.queuing?.handSize),
    ),
    text(
      'QueueLengthLimit',
      '`queueLengthLimit` is the maximum number of requests allowed to be waiting in a given queue of this priority level at a time; excess requests are rejected.  This value must be positive.  If not specified, it will be defaulted to 50.',
      limited(({ limitResponse }) => limitResponse?.queuing?.queueLengthLimit),
    ),
    ageColumn,
  ]),
  APIService: tableOfColumns([
    nameColumn,
    text('Service', 'The reference to the service that hosts this API endpoint.', ({ spec }) =>
      spec?.service ? `${spec.service.namespace}/${spec.service.name}` : 'Local',
    ),
    text('Available', 'Whether this service is available.', (service) => {
      const available = condition(service, 'Available');
      if (!available) return 'Unknown';
      return available.status === 'True' ? 'True' : `${available.status} (${available.reason})`;
    }),
    ageColumn,
  ]),
};
