import { groupWords } from '@kruise/schema/openapi/operations';
import type { PublishedPage } from '@kruise/schema/openapi-v3';
import { builtinKinds } from './builtin.ts';
import { apiGroup, apiGroupList, apiVersions } from './meta/discovery.ts';
import { versionInfo } from './meta/version.ts';

const textTypes = ['application/json'];
const allTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

function groupPage(group: string): PublishedPage {
  const [first = '', ...rest] = groupWords(group);
  const tag = `${first}${rest.map(capitalized).join('')}`;
  return {
    path: `/apis/${group}/`,
    id: `get${capitalized(tag)}APIGroup`,
    description: 'The versions of this group.',
    tag,
    types: allTypes,
    answer: apiGroup,
  };
}

function capitalized(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

const groups = new Set(builtinKinds.map(({ group }) => group).filter((group) => group !== ''));

/** Non-resource endpoints that every server has and OpenAPI publishes. */
export const publishedEndpoints: readonly PublishedPage[] = [
  {
    path: '/.well-known/openid-configuration/',
    id: 'getServiceAccountIssuerOpenIDConfiguration',
    description: 'Discovery document of the service account token issuer.',
    tag: 'WellKnown',
    types: textTypes,
  },
  {
    path: '/api/',
    id: 'getCoreAPIVersions',
    description: 'The versions of the core group.',
    tag: 'core',
    types: allTypes,
    answer: apiVersions,
  },
  {
    path: '/apis/',
    id: 'getAPIVersions',
    description: 'The groups there are.',
    tag: 'apis',
    types: allTypes,
    answer: apiGroupList,
  },
  ...Array.from(groups, groupPage),
  {
    path: '/openid/v1/jwks/',
    id: 'getServiceAccountIssuerOpenIDKeyset',
    description: 'The keys that tokens of service accounts are checked with.',
    tag: 'openid',
    types: ['application/jwk-set+json'],
  },
  {
    path: '/version/',
    id: 'getCodeVersion',
    description: 'The version of the server.',
    tag: 'version',
    types: textTypes,
    answer: versionInfo,
  },
];
