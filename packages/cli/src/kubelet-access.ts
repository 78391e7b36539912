import { readFileSync } from 'node:fs';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { type KubeletAccess, type NodeAddressType, nodeAddressTypes } from '@kruise/apiserver/connect/node-connector';

import { inProcessTransport } from '@kruise/apiserver/in-process';
import type { ApiServer } from '@kruise/apiserver/server';
import { serverItself } from '@kruise/apiserver/user';
import { createClient } from '@kruise/client/client';
import { isAlreadyExists, isNotFound } from '@kruise/machinery/status';
import type { KeyPair } from '@kruise/machinery/x509/certificate';
import { kubeletClientUser } from './pki.ts';

/** Flags for connections to kubelets, named as in kube-apiserver. */
export type KubeletAccessOptions = {
  readonly kubeletCertificateAuthority?: string;
  readonly kubeletClientCertificate?: string;
  readonly kubeletClientKey?: string;
  readonly kubeletPreferredAddressTypes: string;
};

/** Reads the flags: the client certificate for kubelets, the CA to trust and the order of addresses. */
export function kubeletAccess(options: KubeletAccessOptions, own: KeyPair): KubeletAccess {
  const { kubeletCertificateAuthority, kubeletClientCertificate, kubeletClientKey } = options;
  if ((kubeletClientCertificate === undefined) !== (kubeletClientKey === undefined)) {
    throw new Error('--kubelet-client-certificate and --kubelet-client-key must be given together');
  }
  const client =
    kubeletClientCertificate === undefined
      ? own
      : { certificate: readFileSync(kubeletClientCertificate, 'utf8'), key: readFileSync(kubeletClientKey!, 'utf8') };
  return {
    certificate: client.certificate,
    key: client.key,
    ...(kubeletCertificateAuthority ? { authority: readFileSync(kubeletCertificateAuthority, 'utf8') } : {}),
    addressTypes: options.kubeletPreferredAddressTypes.split(',').map(addressType),
  };
}

function addressType(text: string): NodeAddressType {
  const found = nodeAddressTypes.find((type) => type === text.trim());
  if (found) return found;
  const known = nodeAddressTypes.join(', ');
  throw new Error(`--kubelet-preferred-address-types: ${JSON.stringify(text)} is not one of ${known}`);
}

const apiGroup = 'rbac.authorization.k8s.io';
const bindingName = 'kruise:kube-apiserver-kubelet-client';

/** Binds the user of the API server's kubelet client certificate to the ClusterRole `system:kubelet-api-admin`. */
export async function grantKubeletAccess({ core }: ApiServer): Promise<void> {
  const client = createClient(inProcessTransport(core, serverItself, 'kruise'));
  try {
    await client.get(clusterRoleBinding, { name: bindingName });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const made = client.create(clusterRoleBinding, {
      metadata: { name: bindingName },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
      subjects: [{ apiGroup, kind: 'User', name: kubeletClientUser }],
    });
    // Another API server on the same store may have created the binding first.
    await made.catch((failure: unknown) => {
      if (!isAlreadyExists(failure)) throw failure;
    });
  }
}
