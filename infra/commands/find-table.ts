import {
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import type { Stage } from '../settings/stages.ts';
import { stageWords } from './stage-option.ts';

/** Returns a table, or `undefined` if there is none of this name. */
export const findTable = async (dynamodb: DynamoDBClient, TableName: string) => {
  try {
    return (await dynamodb.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

/** Returns the command that restores a table of a stage, such as `pets`. */
export const restoreCommand = (kind: string, stage: Stage): string =>
  `npm run operate -- restore ${kind} ${stageWords(stage)}`;
