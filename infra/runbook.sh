# The commands of infra/runbook.md. Source it in bash or zsh: . infra/runbook.sh prod
# Reads the account that AWS_PROFILE names. `since` bounds logs and metrics: seconds since 1970, an hour ago.
export AWS_REGION=${AWS_REGION:-eu-west-1} AWS_PAGER=
stage=${1:?staging or prod}
stack=AnimalStore-$stage
service=animal-store-$stage
since=$(($(date +%s) - 3600))

# The value of an output of the stack.
output() {
  aws cloudformation describe-stacks --stack-name "$stack" --query "Stacks[0].Outputs[?OutputKey=='$1'].OutputValue" --output text
}

# The physical names of the stack's resources of a type, if their logical id contains the second word.
names() {
  aws cloudformation list-stack-resources --stack-name "$stack" --query "StackResourceSummaries[?ResourceType=='AWS::$1' && contains(LogicalResourceId,'${2:-}')].PhysicalResourceId" --output text
}

# The functions of the API: those with an alias.
lambdas=($(names Lambda::Alias | tr '\t' '\n' | cut -d: -f7))
api=$(names ApiGateway::RestApi)
pets=$(output PetsTableName)
keys=$(output KeysTableName)
operations=(listPets createPet getPet)

# The state of every alarm.
alarms() {
  aws cloudwatch describe-alarms --alarm-name-prefix "$service-" --query 'MetricAlarms[].[StateValue,AlarmName,StateUpdatedTimestamp]' --output text
}

# The state of the stack.
stack_status() {
  aws cloudformation describe-stacks --stack-name "$stack" --query 'Stacks[0].[StackStatus,LastUpdatedTime,EnableTerminationProtection]' --output text
}

# What failed in the last deployments of the stack, and why.
stack_failures() {
  aws cloudformation describe-stack-events --stack-name "$stack" --max-items 200 --query 'StackEvents[?ends_with(ResourceStatus,`FAILED`)].[Timestamp,LogicalResourceId,ResourceStatusReason]' --output text
}

# When deployments of the stack began and ended.
stack_history() {
  aws cloudformation describe-stack-events --stack-name "$stack" --max-items 200 --query 'StackEvents[?ResourceType==`"AWS::CloudFormation::Stack"`].[Timestamp,ResourceStatus]' --output text
}

# The result of a CloudWatch Logs Insights query over log groups.
insights() {
  query_id=$(aws logs start-query --start-time "$since" --end-time "$(date +%s)" --query-string "$1" --log-group-names "${@:2}" --query queryId --output text) || return
  until aws logs get-query-results --query-id "$query_id" --query status --output text | grep -qE 'Complete|Failed|Cancelled|Timeout'; do sleep 1; done
  aws logs get-query-results --query-id "$query_id" --query 'results[*].[join(`"  "`, [?field!=`"@ptr"`].value)]' --output text
}

function_logs() {
  log_groups=($(for name in "${lambdas[@]}"; do aws lambda get-function-configuration --function-name "$name" --query LoggingConfig.LogGroup --output text; done))
  insights "$1" "${log_groups[@]}"
}

access_log() {
  insights "$1" "$(names Logs::LogGroup AccessLog)"
}

# Of the probe, and of the check before traffic.
probe_log() {
  insights "$1" "$(names Logs::LogGroup probe)"
}

check_log() {
  insights "$1" "$(names Logs::LogGroup beforetraffic)"
}

firewall_log() {
  insights "$1" "$(names Logs::LogGroup FirewallLog)"
}

# A line for every 5 minutes: metric <Sum|Maximum|p99> <NAMESPACE> <METRIC> <DIMENSIONS>
metric() {
  echo "${@:3}"
  case $1 in p99) kind=--extended-statistics ;; *) kind=--statistics ;; esac
  aws cloudwatch get-metric-statistics "$kind" "$1" --namespace "$2" --metric-name "$3" --dimensions "${@:4}" --period 300 --start-time "$since" --end-time "$(date +%s)" --query 'sort_by(Datapoints,&Timestamp)[].[Timestamp, Sum || Maximum || ExtendedStatistics.p99]' --output text
}

function_metric() {
  for name in "${lambdas[@]}"; do metric "$1" AWS/Lambda "$2" Name=FunctionName,Value="$name"; done
}

operation_metric() {
  for name in "${operations[@]}"; do metric "$1" AnimalStore "$2" Name=service,Value="$service" Name=operation,Value="$name"; done
}

# Throttles of a table or of an index of it, and their reasons.
throttles() {
  for name in ReadThrottleEvents WriteThrottleEvents {Read,Write}{MaxOnDemand,KeyRange}ThroughputThrottleEvents; do
    metric Sum AWS/DynamoDB "$name" Name=TableName,Value="$1" ${2:+Name=GlobalSecondaryIndexName,Value="$2"}
  done
  [ -n "${2:-}" ] && return
  for name in {Read,Write}AccountLimitThrottleEvents; do metric Sum AWS/DynamoDB "$name" Name=TableName,Value="$1"; done
}

# How many requests a second API Gateway lets through to a method, such as /~1pets/POST: on average, and at once.
throttle() {
  aws apigateway update-stage --rest-api-id "$api" --stage-name v1 --patch-operations "op=replace,path=$1/throttling/rateLimit,value=$2" "op=replace,path=$1/throttling/burstLimit,value=$3"
}

# The newest versions of each function, and the one in service.
versions() {
  for name in "${lambdas[@]}"; do
    echo "$name"
    aws lambda list-versions-by-function --function-name "$name" --query 'Versions[-4:].[Version,LastModified]' --output text
    aws lambda get-alias --function-name "$name" --name live --query '[FunctionVersion,RoutingConfig]'
  done
}

# Each deployment group of CodeDeploy, and ids of its deployments, the newest first.
deployments() {
  aws deploy list-deployments --application-name "$(names CodeDeploy::Application)" --deployment-group-name "$1" "${@:2}" --no-paginate --query 'deployments[]' --output text
}

last_deployments() {
  for group in $(names CodeDeploy::DeploymentGroup); do
    for deployment in $(deployments "$group" | cut -f1-3); do
      aws deploy get-deployment --deployment-id "$deployment" --query 'deploymentInfo.[deploymentGroupName,creator,status,errorInformation.code,errorInformation.message]' --output text
    done
  done
}

stop_deployments() {
  for group in $(names CodeDeploy::DeploymentGroup); do
    for deployment in $(deployments "$group" --include-only-statuses Created Queued InProgress); do
      aws deploy stop-deployment --deployment-id "$deployment" --auto-rollback-enabled
    done
  done
}

# Stops all requests: clients get 503.
close_service() {
  for name in "${lambdas[@]}"; do aws lambda put-function-concurrency --function-name "$name" --reserved-concurrent-executions 0; done
}

# Lets requests through again: each function gets the reserved concurrency of the stage, or none.
open_service() {
  for name in "${lambdas[@]}"; do
    if [ -n "${1:-}" ]; then aws lambda put-function-concurrency --function-name "$name" --reserved-concurrent-executions "$1"
    else aws lambda delete-function-concurrency --function-name "$name"; fi
  done
}
