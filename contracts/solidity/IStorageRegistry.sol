// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title Storage nodes, and the streams they are asked to keep
/// @notice A storage node registers itself. Whoever may edit a stream assigns storage nodes to it. An assignment ends
/// with the stream, and is suspended while its node is not registered.
/// @dev URL and metadata are free text: a reader must treat them as hostile.
interface IStorageRegistry {
    /// @param node Ethereum address of the storage node's key, which is also its node id
    /// @param url where clients reach it, such as `https://storage.example`
    /// @param metadata free text, by convention JSON
    struct StorageNode {
        address node;
        string url;
        string metadata;
    }

    /// @notice A storage node registered itself.
    event StorageNodeRegistered(address indexed node, string url, string metadata);
    /// @notice A storage node replaced its URL or metadata.
    event StorageNodeUpdated(address indexed node, string url, string metadata);
    /// @notice A storage node removed itself.
    event StorageNodeRemoved(address indexed node);
    /// @notice A storage node was asked to keep a stream.
    event StreamAssigned(bytes32 indexed streamKey, address indexed node, string streamId);
    /// @notice A storage node no longer needs to keep a stream.
    event StreamUnassigned(bytes32 indexed streamKey, address indexed node, string streamId);

    /// @notice There is no contract at the address given as the stream registry.
    error StorageRegistry__InvalidStreamRegistry(address streamRegistry);
    /// @notice The caller is registered already.
    error StorageRegistry__AlreadyRegistered(address node);
    /// @notice The address is not a registered storage node.
    error StorageRegistry__NotRegistered(address node);
    /// @notice The URL is empty or longer than allowed.
    error StorageRegistry__InvalidUrl(uint256 lengthBytes, uint256 maxBytes);
    /// @notice The metadata is longer than allowed.
    error StorageRegistry__MetadataTooLong(uint256 lengthBytes, uint256 maxBytes);
    /// @notice No stream of this id exists.
    error StorageRegistry__StreamNotFound(string streamId);
    /// @notice The caller may not edit the stream.
    error StorageRegistry__NotPermitted(bytes32 streamKey, address user);
    /// @notice The storage node is assigned to the stream already.
    error StorageRegistry__AlreadyAssigned(bytes32 streamKey, address node);
    /// @notice The storage node is not assigned to the stream.
    error StorageRegistry__NotAssigned(bytes32 streamKey, address node);
    /// @notice The stream has as many storage nodes as a stream may have.
    error StorageRegistry__TooManyNodes(bytes32 streamKey, uint256 maxCount);

    /// @notice Registers the caller as a storage node.
    function registerNode(string calldata url, string calldata metadata) external;

    /// @notice Replaces URL and metadata of the caller.
    function updateNode(string calldata url, string calldata metadata) external;

    /// @notice Removes the caller. Its assignments are suspended: they apply again if it comes back.
    function removeNode() external;

    /// @notice Asks a registered storage node to keep a stream. Needs the Edit permission on the stream.
    function assign(string calldata streamId, address node) external;

    /// @notice Ends an assignment. Needs the Edit permission on the stream, except for the storage node itself, which may
    /// always decline.
    function unassign(string calldata streamId, address node) external;

    /// @notice Clears the assignments that a deleted stream left behind. Anybody may; reads ignore them in any case.
    function prune(string calldata streamId) external;

    /// @notice One storage node; reverts when it is not registered.
    function getNode(address node) external view returns (StorageNode memory);

    /// @notice Whether the address is a registered storage node.
    function isRegistered(address node) external view returns (bool);

    /// @notice How many storage nodes are registered.
    function nodeCount() external view returns (uint256);

    /// @notice At most `limit` storage nodes from position `offset`; fewer, or none, past the end.
    /// @dev A removal moves the last node into the gap: read all pages at one block number.
    function listNodes(uint256 offset, uint256 limit) external view returns (StorageNode[] memory);

    /// @notice The registered storage nodes that keep a stream. None for a stream that does not exist.
    function nodesOf(string calldata streamId) external view returns (StorageNode[] memory);

    /// @notice Whether a storage node keeps a stream: assigned to it, and registered.
    function isAssigned(string calldata streamId, address node) external view returns (bool);

    /// @notice How many positions `streamsOf` pages through, those of deleted and not yet pruned streams included.
    function streamCountOf(address node) external view returns (uint256);

    /// @notice The ids of the streams a node is assigned to, among `limit` positions from `offset`. Fewer than `limit`
    /// where deleted streams were left out: go on up to `streamCountOf`.
    /// @dev Ending an assignment moves the last one into the gap: read all pages at one block number.
    function streamsOf(address node, uint256 offset, uint256 limit) external view returns (string[] memory);
}
