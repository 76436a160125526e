// The command: runs seeds, prints what it reached, and for a seed that finds something the shortest trace that it can make.
//
//   npm run simulate -- --seed 7              one seed, with its trace where it finds something
//   npm run simulate -- --seeds 1..2000       many; stops at the first finding
//   npm run simulate -- --seeds 1.. --time 60 as many as fit into so many seconds
//   npm run simulate -- --seeds 1..2000 --processes 1   in so many processes instead of one for each core
//   npm run simulate -- --seeds 600 --nodes   those of them with nodes only
//   npm run simulate -- --seed 7 --as-it-is   without making what it finds shorter
//   npm run simulate -- --seed 7 --keep NAME  keeps the shortest plan that finds the same, in test/simulator/found
//   npm run simulate -- --plan FILE           one that was kept
//   npm run simulate -- --planted [name …]    each planted bug, or these, until it is found; --record: what finds it is written down
//   npm run simulate -- --seeds 600 --assertion NAME   goes on past what other assertions find
//   npm run simulate -- --seed 7 --trace      the whole trace

import './stand-ins.ts';
import { tellUsage } from '../usage.ts';

tellUsage(import.meta.filename);
const { command } = await import('./command.ts');
process.exitCode = await command(process.argv.slice(2));
