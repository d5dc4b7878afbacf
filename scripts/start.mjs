// `npm start`: builds what is missing, then runs the tour until there is a server to run.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './install.mjs';

build();
const tour = join(root, 'examples', 'tour.ts');
const { status } = spawnSync(process.execPath, ['--import', 'tsx', tour], { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
