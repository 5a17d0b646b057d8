# Attaches the dead-letter queue QUEUE_NAME to the office of the stack OFFICE_STACK: tags, and one stack beside yours.
# Read it, then run it: dlo attach QUEUE_URL --office OFFICE_STACK | sh
# Other parameters of infra/attach.yaml follow as arguments: … | sh -s -- MaximumConcurrency=0 IntakeEnabled=false
set -eu

output() {
    aws cloudformation describe-stacks --region 'QUEUE_REGION' --stack-name 'OFFICE_STACK' \
        --query "Stacks[0].Outputs[?OutputKey=='$1'].OutputValue" --output text
}

attaches=$(output AttachedQueues) || {
    echo "The stack OFFICE_STACK could not be read in QUEUE_REGION. Name the office's stack: dlo attach … --office <STACK>" >&2
    exit 1
}
if [ "$attaches" != true ]; then
    echo "The stack OFFICE_STACK attaches no queues. Deploy it with AttachedQueues=true first." >&2
    exit 1
fi
intake=$(output IntakeFunctionArn)
topic=$(output AlertsTopic)
runbooks=$(aws cloudformation describe-stacks --region 'QUEUE_REGION' --stack-name 'OFFICE_STACK' \
    --query "Stacks[0].Parameters[?ParameterKey=='RunbooksUrl'].ParameterValue" --output text)
[ "$runbooks" != None ] || runbooks=

# Ends the script unless a queue (its URL) may get a tag. A tag has one value, so a queue belongs to one office, which either
# receives from it or sends to it.
check_tag() {
    tag=$(aws sqs list-queue-tags --region 'QUEUE_REGION' --queue-url "$1" \
        --query 'Tags."dead-letter-office"' --output text)
    case "$tag" in
        "$2" | None | '') ;;
        *)
            echo "Nothing was changed: $1 has the tag dead-letter-office=$tag, and a queue belongs to one office." >&2
            echo "If no office uses it any more, remove the tag, and run this again:" >&2
            echo "aws sqs untag-queue --region QUEUE_REGION --queue-url $1 --tag-keys dead-letter-office" >&2
            exit 1
            ;;
    esac
}
check_tag 'QUEUE_URL' 'OFFICE_STACK:watch'
mains=
for name in MAIN_NAMES; do
    main=$(aws sqs get-queue-url --region 'QUEUE_REGION' --queue-name "$name" --query QueueUrl --output text)
    check_tag "$main" 'OFFICE_STACK:replay'
    mains="$mains $main"
done

# 1. With these tags the office may receive from the dead-letter queue, and send to its main queues. If a template
#    creates the queues, add the tags there as well: its next deployment could remove them.
aws sqs tag-queue --region 'QUEUE_REGION' --queue-url 'QUEUE_URL' --tags 'dead-letter-office=OFFICE_STACK:watch'
for main in $mains; do
    aws sqs tag-queue --region 'QUEUE_REGION' --queue-url "$main" --tags 'dead-letter-office=OFFICE_STACK:replay'
done

# 2. The event source mapping, and two alarms.
template=$(mktemp)
trap 'rm -f "$template"' EXIT
cat > "$template" << 'END_OF_TEMPLATE'
TEMPLATE_TEXT
END_OF_TEMPLATE
deploy() {
    aws cloudformation deploy --region 'QUEUE_REGION' --stack-name 'ATTACH_STACK' \
        --template-file "$template" --no-fail-on-empty-changeset --parameter-overrides \
        DeadLetterQueueArn='QUEUE_ARN' "IntakeFunctionArn=$intake" Office='OFFICE_STACK' "AlarmTopicArn=$topic" \
        ${runbooks:+"RunbooksUrl=$runbooks"} "$@"
}

# Whether the stack is what a first deployment that failed leaves: it can only be deleted.
failed() {
    status=$(aws cloudformation describe-stacks --region 'QUEUE_REGION' --stack-name 'ATTACH_STACK' \
        --query 'Stacks[0].StackStatus' --output text 2> /dev/null) || return 1
    [ "$status" = ROLLBACK_COMPLETE ]
}

tries=3
while true; do
    if failed; then
        aws cloudformation delete-stack --region 'QUEUE_REGION' --stack-name 'ATTACH_STACK'
        aws cloudformation wait stack-delete-complete --region 'QUEUE_REGION' --stack-name 'ATTACH_STACK'
    fi
    if deploy "$@"; then
        break
    fi
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ] || ! failed; then
        echo "The stack ATTACH_STACK was not deployed. Its events in CloudFormation say why." >&2
        exit 1
    fi
    # Lambda refuses the mapping until the tags of the queue have reached IAM.
    echo "The tags may not have taken effect yet. Trying again in 60 seconds." >&2
    sleep 60
done
