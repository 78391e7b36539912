import * as s from '@kruise/schema';

export const versionInfo = s.object('io.k8s.apimachinery.pkg.version.Info', 'Version of the server and of its build.', {
  major: s.required(1, s.string(), 'Major version.'),
  minor: s.required(2, s.string(), 'Minor version.'),
  emulationMajor: s.optional(3, s.string(), 'Major version of the release whose behaviour is shown.'),
  emulationMinor: s.optional(4, s.string(), 'Minor version of the release whose behaviour is shown.'),
  minCompatibilityMajor: s.optional(5, s.string(), 'Major version of the oldest compatible release.'),
  minCompatibilityMinor: s.optional(6, s.string(), 'Minor version of the oldest compatible release.'),
  gitVersion: s.required(7, s.string(), 'The version in full, such as v1.33.4.'),
  gitCommit: s.required(8, s.string(), 'Commit of the build.'),
  gitTreeState: s.required(9, s.string(), 'State of the source tree of the build: clean or dirty.'),
  buildDate: s.required(10, s.string(), 'Time of the build.'),
  goVersion: s.required(11, s.string(), 'Programming language and its version.'),
  compiler: s.required(12, s.string(), 'Compiler of the build.'),
  platform: s.required(13, s.string(), 'Operating system and architecture.'),
});
export type VersionInfo = s.TypeOf<typeof versionInfo>;
