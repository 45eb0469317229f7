import { stageNamed } from '../settings/stages.ts';

/** The stage that runs locally: a personal one, which has no alarms and no functions that check it. */
export const localStage = stageNamed('dev-local');
