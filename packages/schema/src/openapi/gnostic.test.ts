import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from './definitions.ts';
import { encodeOpenApiV2 } from './gnostic.ts';
import { runSteps } from './steps.ts';

/** A message literal: a field number, then a text, a message or a flag. */
type Part = readonly [number: number, value: string | boolean | readonly Part[]];

function bytesOf(parts: readonly Part[]): number[] {
  return parts.flatMap(([number, value]) => {
    if (typeof value === 'boolean') return [...varint(number * 8), Number(value)];
    const content = typeof value === 'string' ? [...Buffer.from(value)] : bytesOf(value);
    return [...varint(number * 8 + 2), ...varint(content.length), ...content];
  });
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];
}

const documents: readonly { name: string; document: Json; parts: readonly Part[] }[] = [
  {
    name: 'texts and messages are encoded with their field numbers',
    document: { swagger: '2.0', info: { title: 'T', version: 'V' } },
    parts: [
      [1, '2.0'],
      [
        2,
        [
          [1, 'T'],
          [2, 'V'],
        ],
      ],
    ],
  },
  {
    name: 'a definition is a name and a schema, an extension is a name and YAML text',
    document: {
      definitions: {
        A: { type: 'object', properties: { b: { type: 'array', items: { $ref: '#/definitions/A' } } }, 'x-k': ['v'] },
      },
    },
    parts: [
      [
        9,
        [
          [
            1,
            [
              [1, 'A'],
              [
                2,
                [
                  [22, [[1, 'object']]],
                  [
                    25,
                    [
                      [
                        1,
                        [
                          [1, 'b'],
                          [
                            2,
                            [
                              [22, [[1, 'array']]],
                              [23, [[1, [[1, '#/definitions/A']]]]],
                            ],
                          ],
                        ],
                      ],
                    ],
                  ],
                  [
                    31,
                    [
                      [1, 'x-k'],
                      [2, [[2, '["v"]\n']]],
                    ],
                  ],
                ],
              ],
            ],
          ],
        ],
      ],
    ],
  },
  {
    name: 'parameters are encoded by location, and references as references',
    document: {
      paths: {
        '/a': {
          get: {
            parameters: [
              { name: 'q', in: 'query', type: 'string', uniqueItems: true },
              { name: 'body', in: 'body', required: true, schema: { type: 'object' } },
              { $ref: '#/parameters/p' },
            ],
            responses: { 200: { description: 'OK', schema: { type: 'string' } } },
          },
        },
      },
    },
    parts: [
      [
        8,
        [
          [
            2,
            [
              [1, '/a'],
              [
                2,
                [
                  [
                    2,
                    [
                      [
                        8,
                        [
                          [
                            1,
                            [
                              [
                                2,
                                [
                                  [
                                    3,
                                    [
                                      [4, 'q'],
                                      [2, 'query'],
                                      [6, 'string'],
                                      [20, true],
                                    ],
                                  ],
                                ],
                              ],
                            ],
                          ],
                        ],
                      ],
                      [
                        8,
                        [
                          [
                            1,
                            [
                              [
                                1,
                                [
                                  [2, 'body'],
                                  [3, 'body'],
                                  [4, true],
                                  [5, [[22, [[1, 'object']]]]],
                                ],
                              ],
                            ],
                          ],
                        ],
                      ],
                      [8, [[2, [[1, '#/parameters/p']]]]],
                      [
                        9,
                        [
                          [
                            1,
                            [
                              [1, '200'],
                              [
                                2,
                                [
                                  [
                                    1,
                                    [
                                      [1, 'OK'],
                                      [2, [[1, [[22, [[1, 'string']]]]]]],
                                    ],
                                  ],
                                ],
                              ],
                            ],
                          ],
                        ],
                      ],
                    ],
                  ],
                ],
              ],
            ],
          ],
        ],
      ],
    ],
  },
  {
    name: 'additionalProperties is a schema or a flag',
    document: { definitions: { A: { additionalProperties: true }, B: { additionalProperties: { type: 'string' } } } },
    parts: [
      [
        9,
        [
          [
            1,
            [
              [1, 'A'],
              [2, [[21, [[2, true]]]]],
            ],
          ],
          [
            1,
            [
              [1, 'B'],
              [2, [[21, [[1, [[22, [[1, 'string']]]]]]]]],
            ],
          ],
        ],
      ],
    ],
  },
];
for (const { name, document, parts } of documents) {
  test(name, () => assert.deepEqual([...runSteps(encodeOpenApiV2(document))], bytesOf(parts)));
}
